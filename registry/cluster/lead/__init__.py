"""Leading: the election, taking over the topic, and whether this node may write."""
