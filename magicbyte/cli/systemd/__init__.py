"""Units of systemd."""
