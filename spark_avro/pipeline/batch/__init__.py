"""One batch: its parts, the rows after the steps and checks, what is written of it and counted."""
