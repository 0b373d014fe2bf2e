"""Going over to a standby registry, and trying it out."""
