"""Validators, and a bound on their work."""
