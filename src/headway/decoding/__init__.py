"""Searches beside the core's: sampling, prefixes, words that are known."""
