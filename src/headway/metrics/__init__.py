"""How good is it: scores of translations with intervals."""
