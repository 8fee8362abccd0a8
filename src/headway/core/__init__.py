"""The Transformer of Vaswani et al., 2017: from two text files to translations."""
