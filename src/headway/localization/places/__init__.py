"""The units of a file as bytes: to be written again with some left out, exchanged or mended."""
