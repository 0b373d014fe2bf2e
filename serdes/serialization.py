"""The context of a message, with the names of confluent_kafka.serialization, whose objects work as well."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from serdes.error import SerializationError

__all__ = ["Context", "MessageField", "SerializationContext", "SerializationError"]


class MessageField(StrEnum):
    """The part of a message that is being serialized or deserialized."""

    NONE = "none"
    KEY = "key"
    VALUE = "value"


class Context(Protocol):
    """The attributes of a context that serializers read; any object with them is accepted."""

    @property
    def topic(self) -> str:
        """The topic that the message is produced to or consumed from."""

    @property
    def field(self) -> Any:
        """`key` or `value`: a MessageField or the text."""

    @property
    def headers(self) -> Any:
        """The message's headers: a list of pairs, a mapping, or None."""


@dataclass(slots=True)
class SerializationContext:
    """The topic, the part of the message, and the headers, to which a serializer may add."""

    topic: str
    field: str
    headers: Any = None
