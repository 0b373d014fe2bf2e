"""The configuration of checks."""
