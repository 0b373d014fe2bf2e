"""Sources of states and raw records: registries, topics, databases, and files of several tools."""
