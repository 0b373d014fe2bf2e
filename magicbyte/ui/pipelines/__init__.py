"""The pipelines that the page shows: their metrics ports, and the markers of their Kafka sinks."""
