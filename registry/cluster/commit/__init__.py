"""Committing: deciding queued writes, appending them in one batch, and handing the results out."""
