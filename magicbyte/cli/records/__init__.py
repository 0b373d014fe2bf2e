"""Commands that produce and consume records."""
