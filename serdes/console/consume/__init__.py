"""The consuming tools."""
