"""The REST proxy's handlers, one file for each noun."""
