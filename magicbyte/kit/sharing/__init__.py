"""Sharing of a resource among clients: an allowance for each client, and queues in which clients take turns."""
