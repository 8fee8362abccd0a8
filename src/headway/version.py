"""The version of this package, for what writes it into a file."""

__version__ = "0.1.0"
