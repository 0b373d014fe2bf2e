"""Rules that Python workers carry out on whole messages: data are decoded, changed, and encoded again.

So rules see exactly the data of a deserializer, whatever the column's type. A message that cannot be decoded stays as
it is: the decoder that follows has the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from compat.schema import AVRO, PROTOBUF
from serdes.message import wire
from serdes.rules.error import RuleError, RuleFailed
from serdes.rules.failures import failed
from spark_avro.plan.rules.listed import ListedRule
from spark_avro.plan.rules.workers.rule_batches import CarryOut, prepared_rule
from spark_avro.sent_schema import SentSchema

#: The bytes with the length of the name of a rule that a record skips.
SKIPPED_SIZE = 2


@dataclass(frozen=True, slots=True)
class Form:
    """The codec of a schema's payloads.

    Attributes:
        decode: From a payload to a datum.
        encode: From a datum to a payload.
        errors: The exceptions that both raise.
    """

    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]
    errors: tuple[type[Exception], ...]


@dataclass(frozen=True)
class MessageRules:
    """The rules on payloads of a schema.

    Attributes:
        schema: The schema.
        rules: The rules, in order.
        message: The full name of Protobuf's message; None for other schemas.
        written: The schema whose message indexes Protobuf's payloads have, if it is another one.
        has_indexes: Whether Protobuf's payloads have message indexes.
    """

    schema: SentSchema
    rules: tuple[ListedRule, ...]
    message: str | None = None
    written: SentSchema | None = None
    has_indexes: bool = True

    @property
    def names(self) -> str:
        """The rules' names, for errors."""
        return "rules " + ", ".join(rule.name for rule in self.rules)

    def prepare(self) -> Callable[..., bytes | None]:
        """The function that carries the rules out on a payload, but not the rule of a name."""
        form = form_of(self.schema, self.message, self.written, has_indexes=self.has_indexes)
        steps = [(rule.name, prepared_step(rule)) for rule in self.rules]

        def carry_out(payload: bytes, skipped: str = "") -> bytes | None:
            try:
                datum = form.decode(payload)
            except form.errors:
                return None
            new = datum
            for name, step in steps:
                new = new if name == skipped else step(new)
            if new is datum:
                return None
            return encoded(form, new, self.rules[-1])

        return carry_out


@dataclass(frozen=True)
class FramedRules:
    """The rules on messages with ids.

    Attributes:
        by_id: The rules on payloads, by the id before them.
        names_skipped: Whether the name of the rule that it skips stands before a message, after its length.
    """

    by_id: Mapping[int, Any]
    names_skipped: bool = False

    def prepare(self) -> CarryOut:
        """The function that carries the rules out on a message with its id."""
        ready = {schema_id: task.prepare() for schema_id, task in self.by_id.items()}
        targets = {key: task.target_id for key, task in self.by_id.items() if hasattr(task, "target_id")}

        def carry_out(message: bytes) -> bytes | None:
            skipped = ""
            if self.names_skipped:
                end = SKIPPED_SIZE + int.from_bytes(message[:SKIPPED_SIZE], "big")
                skipped, message = bytes(message[SKIPPED_SIZE:end]).decode(), message[end:]
            schema_id = int.from_bytes(message[1 : wire.V0_SIZE], "big")
            carry = ready.get(schema_id)
            new = None if carry is None else carry(bytes(message[wire.V0_SIZE :]), skipped)
            # What was migrated is data of another schema.
            return None if new is None else wire.prefix(targets.get(schema_id, schema_id)) + new

        return carry_out


def prepared_step(listed: ListedRule) -> Callable[[Any], Any]:
    """The function that carries a rule and its actions out on a datum."""
    step = prepared_rule(listed.context)

    def carry_out(datum: Any) -> Any:
        try:
            new = step(datum)
        except RuleFailed:
            if listed.may_fail:
                return datum
            raise
        if listed.must_fail:
            raise failed(listed.context, RuleError("the rule's action after a success stops the record"), datum)
        return new

    return carry_out


def encoded(form: Form, datum: Any, last: ListedRule) -> bytes:
    """The payload of a datum that rules changed.

    Raises:
        RuleFailed: It does not fit the schema.
    """
    try:
        return form.encode(datum)
    except form.errors as error:
        raise failed(last.context, RuleError(f"the result does not fit the schema: {error}"), datum) from error


def form_of(
    schema: SentSchema, message: str | None = None, written: SentSchema | None = None, *, has_indexes: bool = True
) -> Form:
    """The codec of a schema; the arguments are the attributes of MessageRules."""
    if schema.schema.schema_type == PROTOBUF:
        assert message is not None
        form = _protobuf(schema, message)
        return _behind_indexes(form, written or schema, message) if has_indexes else form
    return (_avro if schema.schema.schema_type == AVRO else _json)(schema)


def _avro(schema: SentSchema) -> Form:
    from serdes.codec import DecodeError, EncodeError, compile_codec  # noqa: PLC0415 - in the workers

    # Records in unions keep their names, so that they are encoded as the same branch.
    named = [dependency.text for dependency in schema.dependencies]
    codec = compile_codec(schema.schema.text, None, named, record_names=True)
    errors = (DecodeError, EncodeError, ValueError, TypeError)
    if codec.is_raw:
        return Form(bytes, bytes, errors)
    return Form(codec.decode, codec.encode, errors)


def _json(_: SentSchema) -> Form:
    import orjson  # noqa: PLC0415 - in the workers

    return Form(orjson.loads, orjson.dumps, (ValueError, TypeError))


def _protobuf(schema: SentSchema, message: str) -> Form:
    from google.protobuf.message import DecodeError, EncodeError  # noqa: PLC0415 - in the workers

    from spark_avro.plan.protobuf_types import message_class  # noqa: PLC0415

    message_type = message_class(schema, message)
    errors = (DecodeError, EncodeError, ValueError, TypeError)
    return Form(message_type.FromString, lambda datum: datum.SerializeToString(), errors)


def _behind_indexes(form: Form, written: SentSchema, message: str) -> Form:
    """The codec of payloads with message indexes; those of another message are not decoded."""
    from spark_avro.plan.protobuf_types import parsed  # noqa: PLC0415 - in the workers

    try:
        own = tuple(parsed(written).message_indexes(message))
    except KeyError:
        own = ()

    def decode(payload: bytes) -> Any:
        indexes, start = wire.read_indexes(payload, 0)
        if tuple(indexes) != own:
            raise ValueError("another message")
        return form.decode(payload[start:])

    return Form(decode, lambda datum: wire.write_indexes(own) + form.encode(datum), form.errors)
