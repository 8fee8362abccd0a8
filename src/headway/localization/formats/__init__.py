"""Files of translators, some twenty kinds: read for training, and filled in."""
