"""Models and tables of other toolkits, read and written."""
