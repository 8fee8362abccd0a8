"""Pictures: their patches through the trunk, or a small convolutional network; a class out."""
