"""Resolves a writer's schema against a reader's schema."""
