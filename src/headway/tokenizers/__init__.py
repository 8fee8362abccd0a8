"""Words, and the tokenizers of other toolkits, beside the core's sub-words."""
