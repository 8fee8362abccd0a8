"""Word vectors: read, written, asked and pictured, wherever they are from."""
