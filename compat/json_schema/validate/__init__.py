"""Validators, and the bound on their work."""
