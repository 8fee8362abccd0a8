"""Checks of translations, and what they are measured by."""
