"""The demo: a year of flights through registry, REST proxy, Kafka and Spark, compared with the file they came from."""
