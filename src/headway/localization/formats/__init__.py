"""Translation memories and catalogues: TMX, XLIFF and PO, read for training and filled in."""
