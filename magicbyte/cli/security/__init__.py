"""The commands about users, API keys and access rules."""
