"""What all packages use: settings, errors, logs, processes, and Kafka's configuration."""
