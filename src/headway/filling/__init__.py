"""From units to outcomes: memory, terms, model, checks, and what is left empty."""
