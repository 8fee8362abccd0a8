"""What every task shares and no task knows: from a request to a finished run folder, and back."""
