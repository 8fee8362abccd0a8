"""Terms: what a glossary says of a text and its translation."""
