"""The decoders of messages, and the rules that are carried out around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compat.schema import Dependencies, SchemaText
from serdes.client.flow import Later
from serdes.client.models import RegisteredSchema
from serdes.message import wire
from serdes.rules.context import Message, Ruled
from serdes.rules.migrations.migrated import Migrate, Read
from serdes.rules.migrations.steps import Migration
from serdes.rules.plan import Plan

#: Takes the message and the payload's offset in it; returns the datum or, for an asynchronous client, a Later.
Decode = Callable[[bytes, int], Any]
#: Takes the datum after the rules, the message, the payload's offset, and whether the rules left the datum as it was;
#: returns the datum for the caller or, for an asynchronous client, a Later.
Finish = Callable[[Any, bytes, int, bool], Any]
#: The decoder of messages with rules on the datum, and what follows the rules.
Around = tuple[Decode, Finish | None]
#: A schema and the schemas that it refers to.
Resolved = tuple[SchemaText, Dependencies]


@dataclass(frozen=True, slots=True)
class ReaderFormat:
    """The part of deserializing that depends on the schema type.

    Attributes:
        schema_type: The type's name on the wire.
        record_name: The name in a schema that the record subject strategies use, if there is one.
        decoder: Makes the decoder of a writer's schema and of the reader's; either may be None.
        errors: The exceptions that decoders raise.
        explain: Makes the exception for the caller from a decoder's exception and the message.
        indexed: True if message indexes precede the payload; if the frame is in a header, decoders get them
            as the first bytes of the message.
        zigzag: False if message indexes are plain varints.
        needs_writer: False if the payload can be read without the writer's schema.
        needs_references: False if it can be read without the schemas that the writer's schema refers to.
        around_rules: Makes the decoder of a writer's schema and of the reader's for messages with rules on the datum,
            and what follows these rules; true if the rules are those of the writer's schema. None: `decoder`, and
            nothing follows.
        migrated: Makes the decoder for messages that a migration takes from the writer's schema to the reader's, and
            what follows the domain rules.
    """

    schema_type: str
    record_name: Callable[[SchemaText], str | None]
    decoder: Callable[[Resolved | None, Resolved | None], Decode]
    errors: tuple[type[Exception], ...]
    explain: Callable[[Exception, bytes], Exception]
    indexed: bool = False
    zigzag: bool = True
    needs_writer: bool = True
    needs_references: bool = True
    around_rules: Callable[[Resolved | None, Resolved | None, bool], tuple[Decode, Finish | None]] | None = None
    migrated: Callable[[Resolved, Resolved, Migration], tuple[Read, Finish | None]] | None = None


@dataclass(frozen=True, slots=True)
class RuledDecoder:
    """A decoder with the rules before and after it.

    Attributes:
        decode: The decoder.
        finish: What follows the domain rules, such as a validation; None for nothing.
        encoding: The rules on the payload.
        domain: The rules on the datum.
        subject: The subject of the schema that has the domain rules.
        body: Takes the message and its payload's offset; returns where the part begins that encoding rules see.
        errors: The exceptions that the decoder raises.
        explain: Makes the exception for the caller from the decoder's exception and the message.
        is_awaited: Whether what may take long is returned as a Later.
        migrate: Takes what the decoder returns to a datum of the reader's schema; None if there is no migration.
    """

    decode: Decode
    finish: Finish | None
    encoding: Plan
    domain: Plan
    subject: str
    body: Callable[[bytes, int], int]
    errors: tuple[type[Exception], ...]
    explain: Callable[[Exception, bytes], Exception]
    is_awaited: bool
    migrate: Migrate | None = None

    @property
    def _holds_up(self) -> bool:
        plans = (self.domain, self.encoding, *(() if self.migrate is None else self.migrate.plans))
        return any(plan.holds_up for plan in plans)

    def __call__(self, data: bytes, offset: int, message: Message) -> Any:
        """The datum, or a Later that returns it.

        Raises:
            RuleFailed: A rule stops the message.
            SerializationError: The message cannot be decoded.
        """
        if self.is_awaited and self._holds_up:
            return Later(lambda: self._finished(data, offset, message))
        if self.encoding:
            data = self._after_encoding_rules(data, offset, message)
        datum = self._decoded(data, lambda: self.decode(data, offset))
        if isinstance(datum, Later):
            later = datum
            return Later(lambda: self._settled(self._changed(self._settled(later, data), data, offset, message), data))
        return self._changed(datum, data, offset, message)

    def _after_encoding_rules(self, data: bytes, offset: int, message: Message) -> bytes:
        """The message after the rules on its payload."""
        start = self._decoded(data, lambda: self.body(data, offset))
        return bytes(data[:start]) + bytes(self.encoding.run(data[start:], message))

    def _changed(self, datum: Any, data: bytes, offset: int, message: Message) -> Any:
        migrate = self.migrate
        if migrate is not None:
            written = datum
            datum = self._decoded(data, lambda: migrate(written, message))
        changed = self.domain.run(datum, message)
        finish = self.finish
        if finish is None:
            return changed
        unchanged = migrate is None and changed is datum
        result = self._decoded(data, lambda: finish(changed, data, offset, unchanged))
        return Later(lambda: self._settled(result, data)) if isinstance(result, Later) else result

    def _finished(self, data: bytes, offset: int, message: Message) -> Any:
        """The datum, on a thread that may be held up."""
        if self.encoding:
            data = self._after_encoding_rules(data, offset, message)
        datum = self._settled(self._decoded(data, lambda: self.decode(data, offset)), data)
        return self._settled(self._changed(datum, data, offset, message), data)

    def _settled(self, datum: Any, data: bytes) -> Any:
        return self._decoded(data, datum.function) if isinstance(datum, Later) else datum

    def _decoded(self, data: bytes, function: Callable[[], Any]) -> Any:
        try:
            return function()
        except self.errors as error:
            raise self.explain(error, data) from error


def whole_body(data: bytes, offset: int) -> int:  # noqa: ARG001  # the signature of `RuledDecoder.body`
    """Return the start of the part of a payload that encoding rules see: the given offset itself."""
    return offset


def after_indexes(*, zigzag: bool) -> Callable[[bytes, int], int]:
    """The same for Protobuf: after the message indexes."""
    return lambda data, offset: wire.read_indexes(data, offset, zigzag=zigzag)[1]


def ruled_version(version: RegisteredSchema, dependencies: Dependencies) -> Ruled:
    """A subject's version with its rules."""
    return Ruled.of(f"the latest version of subject {version.subject}", version, dependencies)
