"""The registry's state: its data types, the view that is built from the log, and look-ups in it."""
