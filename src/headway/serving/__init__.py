"""An HTTP service in front of trained runs, in the languages that clients speak already."""
