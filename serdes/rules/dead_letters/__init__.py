"""The action DLQ: a record that a rule stops goes to a topic of dead letters, and the message stops."""
