"""Columns from and to Confluent-format Protobuf, in Python workers with the protobuf runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from compat.schema import PROTOBUF, SchemaText
from serdes.message import wire
from serdes.rules.context import WRITE, Ruled
from spark_avro.errors import PlanError
from spark_avro.modes import message_in, present
from spark_avro.plan.frames import Guids, Message
from spark_avro.plan.outcomes import FAILFAST, Encoded, as_column, written
from spark_avro.plan.parts import Decoded, parts_of
from spark_avro.plan.protobuf_types import message_class, message_type, parsed
from spark_avro.plan.rules.asked import check_asked
from spark_avro.plan.rules.listed import APPLY, check_rules
from spark_avro.plan.rules.reading import ReadRules, on_messages
from spark_avro.plan.rules.writing import carried_on_bytes, write_rules, written_schema
from spark_avro.plan.selection import Selection, select_versions
from spark_avro.plan.written_frame import PREFIX, check_schema_id, frame_before, with_frame
from spark_avro.registry import Registry, client_of, register_or_look_up, subject_of
from spark_avro.sent_schema import SentSchema
from spark_avro.stored_values import json_text
from spark_avro.workers.decoding import WorkerSettings, protobuf_decoder
from spark_avro.workers.udf import decoded_by, worker_settings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ProtobufPlan:
    """The plan for decoding Protobuf messages: the versions, the reader's message, and its type.

    See `spark_avro.plan.decoding.ColumnPlan`.
    """

    chosen: Selection
    message: str
    kind: spark.DataType
    asked: WorkerSettings | None = None
    has_indexes: ClassVar[bool] = True

    @property
    def rules(self) -> ReadRules:
        """The rules on records."""
        return self.chosen.rules

    @property
    def ids(self) -> Sequence[int]:
        """The ids whose records can be read."""
        return self.chosen.readable_ids

    @property
    def unreadable(self) -> Mapping[int, str]:
        """The reasons why records cannot be read, by id."""
        return self.chosen.refusals

    @property
    def guids(self) -> Guids:
        """The ids of the schemas' guids, newest first."""
        return self.chosen.guids

    def parts(self, message: Message) -> Decoded:
        """The parts of a message decoded by this plan."""
        chosen = self.chosen
        reader = chosen.reader.sent
        batch = protobuf_decoder(chosen.sent_schemas, reader, self.message, chosen.origin, chosen.seam, self.asked)
        decode = partial(decoded_by, batch, kind=self.kind)
        return parts_of(message, self.guids, decode, indexes=self.has_indexes, before=self.rules.by_id)


def plan_protobuf(chosen: Selection, message: str | None = None, asked: WorkerSettings | None = None) -> ProtobufPlan:
    """The plan that decodes a selection of Protobuf versions as a message of the reader's.

    Raises:
        PlanError: the schema has no message.
        UnsupportedSchema: the message is recursive, or the schema has none of that name.
    """
    reader = chosen.reader.sent
    name = message or parsed(reader).full_name
    if name is None:
        raise PlanError(f"the schema of {chosen.origin} has no message")
    kind = message_type(message_class(reader, name).DESCRIPTOR)
    chosen = replace(chosen, rules=on_messages(chosen.rules, chosen.versions, chosen.reader, name))
    check_asked(chosen.rules, asked)
    return ProtobufPlan(chosen, name, kind, asked)


def from_confluent_protobuf(  # noqa: PLR0913 - independent settings, by name
    column: Any,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    ids: Sequence[int] = (),
    message: str | None = None,
    ask_registry: bool = False,
    mode: str = FAILFAST,
    position: Sequence[Any] = (),
    is_key: bool = False,
    headers: Any = None,
    rules: str = APPLY,
) -> Column:
    """A column of Confluent-format Protobuf messages as structs; NULL stays NULL.

    A column has one message, which is read by field number. The indexes before a payload name its message in the
    writer's schema; a record of another message is broken, and its error names both. An unset field with presence is
    NULL; an enum is its name, an unsigned number the next wider type, `Timestamp` a timestamp, and a wrapper the
    wrapped value.

    Args:
        column: Binary: magic byte, schema id, message indexes, payload.
        registry: The registry's URL, the settings of its client, or a client.
        subject: The subject whose versions are decoded; its latest is the reader's schema.
        topic: The same, for the subject `{topic}-value`, or `{topic}-key` with `is_key`.
        ids: Additional ids that are decoded; without subject and topic, the first is the reader's schema.
        message: The full name of the message to read; by default the first of the reader's schema.
        ask_registry: Whether workers ask the registry for ids that were not known when the query was planned.
        mode: As in `from_confluent_avro`.
        position: As in `from_confluent_avro`.
        is_key: Whether `topic` means the subject of the topic's keys, and headers name keys' schemas.
        headers: As in `from_confluent_avro`; the message indexes follow the guid.
        rules: As in `from_confluent_avro`; Python workers carry them out.

    Raises:
        UnsupportedSchema: the message is recursive, or the schema has none of that name.
        NoSubject, PlanError, RulesNotSupported, RegistryUnavailable: as in `from_confluent_avro`.
    """
    sent = message_in(column, headers, is_key=is_key)
    chosen = select_versions(
        registry=registry, schema_type=PROTOBUF, subject=subject, topic=topic, ids=ids, is_key=is_key, rules=rules
    )
    plan = plan_protobuf(chosen, message, worker_settings(registry) if ask_registry else None)
    return present(plan.parts(sent), sent.payload, mode=mode, position=position)


confluent_protobuf_udf = from_confluent_protobuf


def to_confluent_protobuf(  # noqa: PLR0913 - independent settings, by name
    column: Any,
    *,
    registry: Registry,
    schema: str | SchemaText,
    subject: str | None = None,
    topic: str | None = None,
    message: str | None = None,
    register: bool = True,
    is_key: bool = False,
    schema_id: str = PREFIX,
    rules: str = APPLY,
    mode: str = FAILFAST,
    position: Sequence[Any] = (),
) -> Column:
    """A column of structs as Confluent-format Protobuf; NULL stays NULL, and NULL fields are unset.

    Args:
        column: Structs with the message's field names.
        registry: The registry's URL, the settings of its client, or a client.
        schema: The `.proto` text.
        subject: The subject to register under; by default it is named by the topic.
        topic: The topic that the column will be written to.
        message: The full name of the message; by default the schema's first.
        register: Whether a new schema is registered; else it is an error if the subject does not have the schema.
        is_key: Whether `topic` means the subject of the topic's keys.
        schema_id: As in `to_confluent_avro`; the message indexes follow the guid.
        rules: As in `to_confluent_avro`; Python workers carry them out.
        mode: As in `to_confluent_avro`.
        position: As in `to_confluent_avro`.

    Raises:
        PlanError: there is neither subject nor topic, the schema has no message, or a rule cannot be carried out.
        UnsupportedSchema: the schema has no message of that name.
        IncompatibleSchema: the subject's compatibility level refuses the schema.
        RulesNotSupported: the schema has rules, and `rules` refuses them.
    """
    encoded = encode_protobuf(
        column,
        registry=registry,
        schema=schema,
        subject=subject,
        topic=topic,
        message=message,
        register=register,
        is_key=is_key,
        schema_id=schema_id,
        rules=rules,
    )
    return written(encoded, mode=mode, position=position)


def encode_protobuf(
    column: Any,
    *,
    registry: Registry,
    schema: str | SchemaText,
    subject: str | None = None,
    topic: str | None = None,
    message: str | None = None,
    register: bool = True,
    is_key: bool = False,
    schema_id: str = PREFIX,
    rules: str = APPLY,
) -> Encoded:
    """A column as Protobuf, and what rules reject; the arguments and errors are those of `to_confluent_protobuf`."""
    check_schema_id(schema_id)
    check_rules(rules, WRITE)
    if subject is None and topic is None:
        raise PlanError("give a subject or a topic")
    client = client_of(registry)
    name, _ = subject_of(subject=subject, topic=topic, is_key=is_key)
    text = SchemaText(PROTOBUF, schema) if isinstance(schema, str) else schema
    sent = SentSchema(Ruled(f"the schema of subject {name}", text), client.dependencies(text, name))
    full_name = message or parsed(sent).full_name
    if full_name is None:
        raise PlanError("the schema has no message")
    message_class(sent, full_name)
    registered = register_or_look_up(client, name, text, register=register)
    indexes = wire.write_indexes(parsed(sent).message_indexes(full_name))
    held = written_schema(client, registered)
    listed = write_rules(held, rules)
    before = frame_before(registered, schema_id, indexes)
    encoder = _encoder(sent, full_name, b"" if listed else before)
    # Protobuf's JSON mapping reads what to_json writes: base64 for bytes, RFC 3339 for timestamps.
    texts = json_text(as_column(column))
    encoded = F.pandas_udf(encoder, "binary")(texts)  # type: ignore[call-overload,unused-ignore]
    failure = None
    if listed:
        carried = carried_on_bytes(encoded, held, listed, full_name)
        encoded, failure = F.concat(F.lit(before), carried.value), carried.failure
    framed = with_frame(encoded, as_column(column), registered, schema_id, is_key=is_key, indexes=indexes)
    return Encoded(framed, failure)


def _encoder(schema: SentSchema, full_name: str, prefix: bytes) -> Callable[[pd.Series], pd.Series]:
    import pandas as pd  # noqa: PLC0415 - only if a UDF is made

    def encode(texts: pd.Series) -> pd.Series:
        from google.protobuf import json_format  # noqa: PLC0415 - in the workers

        new_message = message_class(schema, full_name)
        # NULL is None in pandas 2, and nan in pandas 3.
        return pd.Series(
            [
                prefix + json_format.Parse(text, new_message()).SerializeToString() if isinstance(text, str) else None
                for text in texts
            ],
            dtype=object,
        )

    encode.__annotations__ = {"texts": pd.Series, "return": pd.Series}
    return encode
