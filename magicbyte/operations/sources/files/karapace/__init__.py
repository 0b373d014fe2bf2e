"""Backups of `karapace_schema_backup`: versions 1, 2 and 3."""
