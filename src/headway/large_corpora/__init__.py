"""Corpora of 10^7 to 10^9 pairs, prepared into shards by many processes in flat memory."""
