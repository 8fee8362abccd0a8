"""The compiled engine: a Transformer's whole search in C, for processors."""
