"""What a serializer is told about a message, by the names of confluent_kafka.serialization; its objects work too."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from serdes.error import SerializationError

__all__ = ["Context", "MessageField", "SerializationContext", "SerializationError"]


class MessageField(StrEnum):
    """The part of a message that is being serialized."""

    NONE = "none"
    KEY = "key"
    VALUE = "value"


class Context(Protocol):
    """What serializers read of a context: any object with these attributes will do."""

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
