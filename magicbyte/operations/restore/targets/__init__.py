"""What restores write to: registries over HTTP, topics and databases."""
