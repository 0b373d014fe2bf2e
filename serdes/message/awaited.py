"""Serializers and deserializers whose calls are awaited."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Self

from serdes.client.clients import AsyncRegistryClient
from serdes.client.flow import finished
from serdes.message.deserializer import Deserializer
from serdes.message.serializer import Serializer
from serdes.rules.counts import RuleCounts


class AsyncSerializer:
    """A serializer for an AsyncRegistryClient: it takes the same arguments, and its calls are awaited.

    It may also be made with `await`, as confluent-kafka's is.
    """

    #: The serializer that does the work.
    twin: type[Serializer]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._serializer = self.twin(*args, **kwargs)

    def __await__(self) -> Generator[None, None, Self]:
        yield from ()
        return self

    async def __call__(self, obj: Any, ctx: Any = None) -> bytes | None:
        """The message's bytes; see Serializer."""
        client = self._serializer.client
        assert isinstance(client, AsyncRegistryClient)
        return None if obj is None else await client.drive(self._serializer.message(obj, ctx))

    @property
    def rule_counts(self) -> RuleCounts:
        """The number of messages by subject, rule, and what became of them there."""
        return self._serializer.rule_counts


class AsyncDeserializer:
    """A deserializer for an AsyncRegistryClient: it takes the same arguments, and its calls are awaited.

    It may also be made with `await`, as confluent-kafka's is.
    """

    #: The deserializer that does the work.
    twin: type[Deserializer]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._deserializer = self.twin(*args, **kwargs)

    def __await__(self) -> Generator[None, None, Self]:
        yield from ()
        return self

    @property
    def rule_counts(self) -> RuleCounts:
        """The number of messages by subject, rule, and what became of them there."""
        return self._deserializer.rule_counts

    async def __call__(self, data: bytes | None, ctx: Any = None) -> Any:
        """The datum of a message; see Deserializer."""
        if data is None:
            return None
        client, datum = self._deserializer.client, self._deserializer.datum(bytes(data), ctx)
        return await (client.drive(datum) if isinstance(client, AsyncRegistryClient) else finished(datum))
