"""Files of any size, translated in shards by as many processes as there are cores."""
