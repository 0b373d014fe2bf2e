"""Checks of a registry's log and state, and repairs of what they find."""
