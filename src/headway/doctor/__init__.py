"""The data doctor: what is wrong with parallel text, where, how much of it, and what to do."""
