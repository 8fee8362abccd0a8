"""The units of a file as bytes: to be written again with some left out or mended."""
