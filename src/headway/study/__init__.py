"""Runs side by side: quality, cost and speed, and which of them may be ranked by what."""
