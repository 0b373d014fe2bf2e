"""Findings of a comparison: explanations for people, and the fixes to offer."""
