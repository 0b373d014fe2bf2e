"""Questions to the cluster."""
