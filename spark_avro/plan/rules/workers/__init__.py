"""Rules that Python workers carry out."""
