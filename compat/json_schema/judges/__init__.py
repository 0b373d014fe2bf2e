"""The judges of single keywords: they compare two schemas."""
