"""Tagging: a label for each word of a text, such as named entities."""
