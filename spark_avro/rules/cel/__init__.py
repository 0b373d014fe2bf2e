"""CEL expressions as columns."""
