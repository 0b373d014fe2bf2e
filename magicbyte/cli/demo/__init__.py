"""The demo: sends a year of flights through registry, REST proxy, Kafka and Spark, and compares sums with the file."""
