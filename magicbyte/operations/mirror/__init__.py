"""Keeping one registry equal to another, change by change."""
