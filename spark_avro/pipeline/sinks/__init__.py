"""The sinks of pipelines: each writes a batch once, or says in its guarantee why it cannot."""

from spark_avro.pipeline.sinks.opening import open_sink

__all__ = ["open_sink"]
