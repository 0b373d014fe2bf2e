"""The types of schemas in CEL: for checks, and for the conversion of data."""
