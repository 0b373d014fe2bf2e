"""Backups: files that hold a registry as a whole, written so that a cut or changed file is noticed."""
