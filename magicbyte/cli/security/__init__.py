"""The commands for users, API keys and access rules."""
