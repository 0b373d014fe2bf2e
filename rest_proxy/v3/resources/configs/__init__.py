"""Configurations of topics, of brokers, and of the cluster: the same operations on three kinds of owners."""
