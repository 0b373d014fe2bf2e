"""The verdict that an expression has no column."""

from __future__ import annotations


class Untranslatable(Exception):
    """A part of an expression, named by the text, that no column computes exactly as CEL does."""
