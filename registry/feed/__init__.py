"""What leaves a registry in bulk: the change feed, webhooks, search, pages and exports."""
