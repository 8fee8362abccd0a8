"""Training of word vectors: one word, one vector."""
