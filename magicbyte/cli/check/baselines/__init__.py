"""What schemas are compared with: a git ref, a folder, a file, a lock file, or a registry."""
