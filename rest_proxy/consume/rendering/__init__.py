"""Records as the JSON of an answer."""
