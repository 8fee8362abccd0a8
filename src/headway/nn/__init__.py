"""The bricks: each file is one idea of the paper, in code."""
