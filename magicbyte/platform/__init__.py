"""What runs on this machine: the broker, its jars, a Java, and our servers as processes."""
