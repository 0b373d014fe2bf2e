"""Version 3 of the API."""
