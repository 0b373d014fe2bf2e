"""Bulk output of a registry: the change feed, webhooks, search, pages and exports."""
