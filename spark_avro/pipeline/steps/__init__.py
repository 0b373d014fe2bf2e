"""Steps: each takes rows and returns rows."""
