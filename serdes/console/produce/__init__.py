"""The producing tools."""
