"""Bricks beside the paper's: other positions, windows, recurrent cells."""
