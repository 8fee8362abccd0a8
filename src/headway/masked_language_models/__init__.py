"""Masked language models: hidden words are told from the words around them."""
