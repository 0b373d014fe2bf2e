"""Checks before an upgrade, or before the way back: settings, records of the log, and the nodes that run."""
