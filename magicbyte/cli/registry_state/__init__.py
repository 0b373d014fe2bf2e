"""Commands that bring a registry's state and a project's files together."""
