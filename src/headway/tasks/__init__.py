"""A task joins data, model, objective and metric; the trainer knows none of them."""
