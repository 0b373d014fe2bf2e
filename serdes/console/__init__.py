"""The console tools: kafka-avro-console-producer and -consumer, and the JSON Schema and Protobuf pairs.

They take the flags and properties of Confluent's tools and of Kafka's, under old and new names. Each module imports
only what every run needs: a tool is to be ready in a fraction of a second.
"""
