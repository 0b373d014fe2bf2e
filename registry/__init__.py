"""Schema registry: a state machine over an ordered log, served over HTTP."""
