"""The walk over pairs of subschemas."""
