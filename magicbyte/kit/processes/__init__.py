"""Child processes, worker pools, and blocking calls in threads."""
