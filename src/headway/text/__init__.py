"""Text from files to sub-word ids. No torch here, and no numbers but counts."""
