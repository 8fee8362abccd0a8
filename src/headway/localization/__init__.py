"""Files, placeholders, memories, glossaries and checks of localizers."""
