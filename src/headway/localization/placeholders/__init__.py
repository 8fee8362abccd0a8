"""What must pass a translation unchanged: tags, variables, addresses, numbers."""
