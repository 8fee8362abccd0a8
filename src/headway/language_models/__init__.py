"""Language modelling: how likely a text is, what comes next, and writing on."""
