"""The nodes of a registry: who leads, how writes are committed, and how they reach the leader."""
