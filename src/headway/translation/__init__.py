"""Translation: pairs of texts in, a translator out. `kind.py` says what it brings."""
