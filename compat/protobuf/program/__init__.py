"""Files with what they import, linked."""
