"""Corpora of any kind and size: small ones in memory, large ones through a cache."""
