"""Text from files to sub-word ids. No torch here."""
