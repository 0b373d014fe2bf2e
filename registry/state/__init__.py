"""The registry's state: what it holds, the fold over the log that makes it, and look-ups in it."""
