"""The walk over pairs of subschemas, which lists their differences."""
