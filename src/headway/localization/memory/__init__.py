"""Translation memory: what was translated before is found again, exactly or nearly."""
