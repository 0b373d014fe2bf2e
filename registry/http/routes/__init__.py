"""The registry's handlers, one file for each noun."""
