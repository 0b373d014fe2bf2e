"""Faults of a log that its own leader can repair: how they are found in its records, and what is appended."""
