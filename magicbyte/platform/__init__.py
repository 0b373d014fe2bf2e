"""Programs that run on this machine: the broker, its jars and Java, and our servers as processes."""
