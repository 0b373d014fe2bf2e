"""The console tools: kafka-avro-console-producer and -consumer, and the JSON Schema and Protobuf pairs.

They accept the flags and properties of Confluent's and Kafka's tools, with old and new names. Each module imports
only what every run needs, so that a tool starts in a fraction of a second.
"""
