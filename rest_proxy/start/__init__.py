"""The start: what is checked, made and started before the proxy serves, and stopped after it."""
