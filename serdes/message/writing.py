"""The encoders of schemas, and the rules that are carried out around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compat.schema import Dependencies, SchemaText
from serdes.client.flow import Flow, Later
from serdes.error import SerializationError
from serdes.message import wire
from serdes.rules.context import ENCODING_RULES, WRITE, Message, Ruled
from serdes.rules.counts import RuleCounts
from serdes.rules.plan import Plan, rules_plan
from serdes.rules.settings import BEFORE_DOMAIN_RULES, DISABLED, RuleSettings
from serdes.serialization import Context

#: Validates a datum by the rules in its schema; it raises ValidationRulesFailed.
Inspect = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Encoder:
    """The encoder of a schema.

    Attributes:
        encode: Takes a datum; returns its payload or, for an asynchronous client, a Later.
        indexes: Protobuf's message indexes as bytes.
        covers: Takes a number of data and their total size in bytes of JSON; true if encoding them surely returns no
            Later, except for data that is refused. None if `encode` never returns one.
        unchecked: As `encode`, without the validation that comes before the domain rules; None if none does.
        datum_of: Makes the datum that rules see from the payload that `encode` returns; `unchecked` then encodes such a
            datum. None if rules see what `encode` takes.
        checks_after: Whether `unchecked` validates, so that it also encodes data that no rule changed.
        with_rules: Makes the encoder for a schema with rules, if that is another one.
    """

    encode: Callable[[Any], Any]
    indexes: bytes = b""
    covers: Callable[[int, int], bool] | None = None
    unchecked: Callable[[Any], Any] | None = None
    datum_of: Callable[[bytes], Any] | None = None
    with_rules: Callable[[], Encoder] | None = None
    checks_after: bool = False


@dataclass(frozen=True, slots=True)
class WriterFormat:
    """The part of serializing that depends on the schema type.

    Attributes:
        schema_type: The type's name on the wire.
        record_name: The name that the record subject strategies use; None if there is none, or no schema.
        own_schema: Registers or looks up the references of the serializer's own schema; returns the schema, if any.
        encoder: Makes the encoder of a schema and its dependencies: the serializer's own schema or the registry's.
        errors: The exceptions that encoders raise.
        explain: Makes the exception for the caller from an encoder's exception and the datum.
        needs: The dependencies of the serializer's own schema; None to ask the registry.
    """

    schema_type: str
    record_name: str | None
    own_schema: Callable[[Context | None, str], Flow[SchemaText | None]]
    encoder: Callable[[SchemaText, Dependencies], Encoder]
    errors: tuple[type[Exception], ...]
    explain: Callable[[Exception, Any], Exception]
    needs: Callable[[], Dependencies] | None = None


@dataclass(frozen=True, slots=True)
class RuledEncoder:
    """An encoder with the rules before and after it.

    Attributes:
        encoder: The encoder.
        domain: The rules on the datum.
        encoding: The rules on the payload.
        errors: The exceptions that the encoder raises.
        explain: Makes the exception for the caller from the encoder's exception and the datum.
        is_awaited: Whether what may take long is returned as a Later.
        before: The validation by the rules in the schema, before the domain rules; None for none.
        after: The same after the domain rules.
    """

    encoder: Encoder
    domain: Plan
    encoding: Plan
    errors: tuple[type[Exception], ...]
    explain: Callable[[Exception, Any], Exception]
    is_awaited: bool
    before: Inspect | None = None
    after: Inspect | None = None

    def __call__(self, datum: Any, message: Message) -> Any:
        """The payload, or a Later that returns it.

        Raises:
            RuleFailed: A rule stops the message.
            ValidationRulesFailed: The datum breaks validation rules of its schema.
            SerializationError: The datum cannot be encoded.
        """
        if self.is_awaited and (self.domain.holds_up or self.encoding.holds_up):
            return Later(lambda: self._finished(datum, message))
        payload = None
        if self.encoder.unchecked is not None:
            payload = self._encoded(self.encoder.encode, datum)
            if isinstance(payload, Later):
                return Later(lambda: self._finished(datum, message))
        payload = self._after_check(datum, payload, message)
        if isinstance(payload, Later):
            later = payload
            return Later(lambda: self.encoding.run(self._settled(later, datum), message))
        return self.encoding.run(payload, message) if self.encoding else payload

    def _after_check(self, datum: Any, payload: Any, message: Message) -> Any:
        """The payload after the domain rules; the one before them if they changed nothing."""
        if self.encoder.datum_of is not None:
            datum = message.original = self.encoder.datum_of(payload)
        if self.before is not None:
            self.before(datum)
        changed = self.domain.run(datum, message)
        if self.after is not None:
            self.after(changed)
        if payload is not None and changed is datum and not self.encoder.checks_after:
            return payload
        return self._encoded(self.encoder.unchecked or self.encoder.encode, changed)

    def _finished(self, datum: Any, message: Message) -> Any:
        """The payload, on a thread that may be held up."""
        payload = None
        if self.encoder.unchecked is not None:
            payload = self._settled(self._encoded(self.encoder.encode, datum), datum)
        payload = self._after_check(datum, payload, message)
        return self.encoding.run(self._settled(payload, datum), message)

    def _settled(self, payload: Any, datum: Any) -> Any:
        return self._encoded(lambda _: payload.function(), datum) if isinstance(payload, Later) else payload

    def _encoded(self, encode: Callable[[Any], Any], datum: Any) -> Any:
        try:
            return encode(datum)
        except self.errors as error:
            raise self.explain(error, datum) from error


@dataclass(frozen=True, slots=True)
class Chosen:
    """The schema that a subject's messages are written with: id, guid, subject and encoder.

    `rules` is the encoder with the schema's rules around it; None if there are no rules to carry out.
    """

    id: int | None
    guid: str | None
    subject: str
    encoder: Encoder
    rules: RuledEncoder | None = None

    @property
    def prefix(self) -> bytes:
        """The bytes before the payload if the id is not in a header: magic, id and Protobuf's message indexes."""
        assert self.id is not None
        return wire.prefix(self.id) + self.encoder.indexes

    @property
    def header(self) -> bytes:
        """The value of the header that names the schema: magic, guid and Protobuf's message indexes.

        Raises:
            SerializationError: the registry gave no guid, as those before Confluent Platform 8.0 do.
        """
        if self.guid is None:
            raise SerializationError("the registry gives no guid, which the header mode of the wire format needs")
        return wire.guid_bytes(self.guid) + self.encoder.indexes


def ruled_encoder(
    form: WriterFormat, encoder: Encoder, ruled: Ruled, settings: RuleSettings, counts: RuleCounts, *, is_awaited: bool
) -> RuledEncoder | None:
    """The encoder with the rules before and after it; None if there are none to carry out.

    Raises:
        SerializationError: The rule set cannot be read.
    """
    domain = rules_plan(ruled, WRITE, settings, counts=counts)
    encoding = rules_plan(ruled, WRITE, settings, phase=ENCODING_RULES, counts=counts)
    before, after = _inspections(ruled, settings)
    if not domain and not encoding and before is None and after is None:
        return None
    if encoder.with_rules is not None:
        encoder = encoder.with_rules()
    return RuledEncoder(encoder, domain, encoding, form.errors, form.explain, is_awaited, before, after)


def _inspections(ruled: Ruled, settings: RuleSettings) -> tuple[Inspect | None, Inspect | None]:
    """The validation by the rules in the schema: before the domain rules, or after them, or not at all."""
    options = settings.options
    if options is None or options.validation == DISABLED:
        return None, None
    from serdes.rules.inline.inspection import inspection  # noqa: PLC0415  # seldom enabled

    inspect = inspection(ruled, fail_fast=options.validation_fail_fast)
    return (inspect, None) if options.validation == BEFORE_DOMAIN_RULES else (None, inspect)
