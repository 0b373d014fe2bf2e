"""Comparison of two states: every difference, the worst first."""
