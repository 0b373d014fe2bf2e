"""Commands that move records."""
