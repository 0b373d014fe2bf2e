"""The spans of producing and consuming records."""

from __future__ import annotations

from contextlib import AbstractContextManager

from magicbyte.kit.traces.span import Kind, Span
from magicbyte.kit.traces.tracing import NO_SPAN, TRACING, span


def produce_span(topic: str, records: int = 0) -> AbstractContextManager[Span | None]:
    """The span of records that are sent, until the brokers have acknowledged them.

    Args:
        topic: The topic.
        records: How many records are sent; 0 if that is not known yet.
    """
    return NO_SPAN if TRACING.tracer is None else _kafka_span("produce", Kind.PRODUCER, topic, records)


def consume_span(topic: str = "") -> AbstractContextManager[Span | None]:
    """The span of a read; `topic` is empty for an instance, which may read several."""
    return NO_SPAN if TRACING.tracer is None else _kafka_span("consume", Kind.CONSUMER, topic, 0)


def _kafka_span(name: str, kind: Kind, topic: str, records: int) -> AbstractContextManager[Span | None]:
    attributes: dict[str, str | int] = {"messaging.system": "kafka"}
    if topic:
        attributes["messaging.destination.name"] = topic
    if records:
        attributes["messaging.batch.message_count"] = records
    return span(name, attributes, kind=kind)
