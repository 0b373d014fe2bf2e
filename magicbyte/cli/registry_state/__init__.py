"""Commands that transfer schemas and settings between a registry and a project's files."""
