"""Encoders and decoders of schema data with the rules of the schema around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from rest_proxy.errors import SERIALIZING_FAILED
from rest_proxy.formats.plain import DataError
from rest_proxy.rules.weight import Weight
from serdes.client.flow import Later
from serdes.error import PayloadError, SerdesError, SerializationError
from serdes.message.reading import RuledDecoder
from serdes.message.writing import RuledEncoder
from serdes.rules.context import Message
from serdes.rules.error import RuleFailed
from serdes.rules.inline.rule import ValidationRulesFailed
from serdes.text.form import ERRORS


class RuleRefusal(DataError):
    """A rule stops a record that is produced; the other records of the request are sent."""

    def __init__(self, failure: SerializationError) -> None:
        super().__init__("", str(failure), SERIALIZING_FAILED)

    @property
    def answer(self) -> str:
        """The text of the record's error."""
        return SERIALIZING_FAILED(detail=str(self)).message


@dataclass(slots=True)
class RecordInHand:
    """The record whose parts are being encoded.

    Attributes:
        headers: Its headers.
        key: The bytes of its key, once they are known.
    """

    headers: Any = None
    key: bytes | None = None


@dataclass(frozen=True, slots=True)
class TopicSide:
    """The keys or the values of a topic."""

    topic: str
    is_key: bool


class RuledWriting:
    """Encodes keys or values, with rules.

    Attributes:
        weight: The weight of the rules.
    """

    def __init__(self, encoder: RuledEncoder, subject: str, prefix: bytes, place: TopicSide) -> None:
        """Prepare.

        Args:
            encoder: The encoder with the rules around it.
            subject: The subject of its schema.
            prefix: The bytes before the payload.
            place: Where the data goes.
        """
        self._encoder = encoder
        self._subject = subject
        self._prefix = prefix
        self._place = place
        weight = Weight.of(encoder.domain, encoder.encoding)
        if encoder.before is not None or encoder.after is not None:
            # Nobody knows how many validation rules a message meets.
            weight = weight._replace(steps=weight.steps + 1, has_loops=True)
        self.weight = weight

    def covers(self, size: int, count: int) -> bool:
        """Whether so many values with so many bytes of JSON are certain to take little time; see QuickWriter."""
        inner = self._encoder.encoder.covers
        return self.weight.is_light(size, count) and (inner is None or inner(size, count))

    def encode(self, value: Any, record: RecordInHand) -> bytes | Later:
        """The bytes of a value that is not a tombstone, or a Later that returns them.

        Raises:
            RuleRefusal: A rule stops the record.
            ERRORS: The schema refuses the value.
        """
        place = self._place
        message = Message(self._subject, place.topic, place.is_key, record.headers, value)
        if not place.is_key:
            message.key = record.key
        try:
            payload = self._encoder(value, message)
        except (RuleFailed, ValidationRulesFailed) as failure:
            raise RuleRefusal(failure) from None
        if isinstance(payload, Later):
            later = payload
            return Later(lambda: self._settled(later))
        return self._prefix + bytes(payload)

    def _settled(self, later: Later) -> bytes:
        try:
            return self._prefix + bytes(later.function())
        except (RuleFailed, ValidationRulesFailed) as failure:
            raise RuleRefusal(failure) from None


class ReadRecord(NamedTuple):
    """The record whose key or value is decoded: its place, its headers, and the bytes as they came."""

    place: TopicSide
    headers: Any
    data: bytes
    key: bytes | None


class RuledReading:
    """Decodes the keys and values that have a schema with rules; the rules name the subject of each topic."""

    def __init__(self, decoder: RuledDecoder, find: Callable[[TopicSide], Awaitable[RuledDecoder]]) -> None:
        """Prepare.

        Args:
            decoder: The decoder for any topic.
            find: Finds the decoder for the keys or values of a topic.
        """
        self._find = find
        self._decoders: dict[TopicSide, RuledDecoder] = {}
        self._weight = Weight.of(decoder.domain, decoder.encoding)
        self._has_migrations = decoder.migrate is not None

    def is_light(self, size: int, count: int) -> bool:
        """Whether decoding some records with a total size in bytes may run on the event loop."""
        return not self._has_migrations and self._weight.is_light(size, count)

    async def load(self, place: TopicSide) -> None:
        """Find the decoder for the keys or values of a topic; raises DataError."""
        if place not in self._decoders:
            self._decoders[place] = await self._find(place)

    def read(self, record: ReadRecord) -> Callable[[bytes, int], bytes]:
        """The function that decodes one key or value, whose topic is loaded; it may wait.

        It raises DataError if a rule stops the record.
        """
        decoder = self._decoders[record.place]
        place = record.place
        message = Message(decoder.subject, place.topic, place.is_key, record.headers, record.data)
        if not place.is_key:
            message.key = record.key

        def read(data: bytes, offset: int) -> bytes:
            try:
                text = decoder(data, offset, message)
                if isinstance(text, Later):
                    text = text.function()
            except PayloadError as error:
                raise DataError("", error.problem) from None
            except (SerdesError, *ERRORS) as error:
                raise DataError("", str(error)) from None
            assert isinstance(text, bytes)
            return text

        return read


def are_light(readers: Iterable[object], size: int, count: int) -> bool:
    """Whether decoding some records with a total size in bytes may run on the event loop."""
    return all(not isinstance(read, RuledReading) or read.is_light(size, count) for read in readers)
