"""Keeping registries: backups, restores, comparisons, checks of logs, migration, mirrors, upgrades."""
