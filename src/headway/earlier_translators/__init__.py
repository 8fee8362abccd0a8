"""The translators before the Transformer, and the Transformer with parts taken out."""
