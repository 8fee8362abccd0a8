"""Terms: what a glossary says of a text and its translation."""

NONE = "none"
"""Given instead of a glossary: that of the run is not used either."""
