"""Encoded pairs on disk, and the batches drawn from them."""
