"""The nodes of a registry: electing the leader, committing writes, and forwarding them to the leader."""
