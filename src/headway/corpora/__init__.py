"""Corpora of any kind and size: read, weighed, split and encoded, through a cache."""
