"""What the uses of one trunk share: labels, heads, the task of examples, scores, predictions."""
