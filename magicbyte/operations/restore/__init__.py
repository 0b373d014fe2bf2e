"""Restores: a backup is read and checked, compared with a target, written, and read back."""
