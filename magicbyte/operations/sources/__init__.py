"""What states and raw records are read from: registries, topics, databases, and files of several tools."""
