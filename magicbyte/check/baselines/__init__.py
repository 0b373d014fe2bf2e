"""Baselines that schemas are compared with: a git ref, a folder, a file, a lock file, a registry or topics."""
