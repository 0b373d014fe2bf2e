"""Judges of keywords: what differs between two schemas."""
