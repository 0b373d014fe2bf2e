"""Encodes columns: the driver looks up or registers the schema and fits the column; the JVM encodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import types as spark
from pyspark.sql.avro.functions import to_avro

from compat.schema import AVRO, SchemaText
from serdes.client.clients import LATEST, RegistryClient
from serdes.client.models import RegisteredSchema
from serdes.error import SubjectNotFound, VersionNotFound
from serdes.message.subject import STRATEGIES
from serdes.rules.context import WRITE
from serdes.serialization import SerializationContext, SerializationError
from spark_avro.errors import NoSubject, PlanError
from spark_avro.plan import tree as trees
from spark_avro.plan.column_fit import fit
from spark_avro.plan.derive import derive
from spark_avro.plan.outcomes import FAILFAST, Encoded, as_column, written
from spark_avro.plan.rules.carrying import carry_out, opened
from spark_avro.plan.rules.listed import APPLY, check_rules
from spark_avro.plan.rules.reading import avro_rules
from spark_avro.plan.rules.writing import write_rules, written_schema
from spark_avro.plan.written_frame import PREFIX, check_schema_id, framed
from spark_avro.registry import Registry, client_of, parsed, register_or_look_up

#: A schema: its text, or a SchemaText if it has references.
Schema = str | SchemaText


def to_confluent_avro(  # noqa: PLR0913 - independent settings, by name
    column: Any,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    strategy: str = "TopicNameStrategy",
    schema: Schema | None = None,
    version: int | str | None = None,
    data: DataFrame | None = None,
    record_name: str = "topLevelRecord",
    register: bool = True,
    normalize: bool = False,
    drop_extra: bool = False,
    is_key: bool = False,
    schema_id: str = PREFIX,
    rules: str = APPLY,
    mode: str = FAILFAST,
    position: Sequence[Any] = (),
) -> Column:
    """A column as Confluent-format Avro, with its schema's id before the payload or in a header; NULL stays NULL.

    The schema is registered (or looked up) here, on the driver, once.

    Args:
        column: The column to encode, or its name; a struct for a record.
        registry: The registry's URL, the settings of its client (`{"url": .., "basic.auth.user.info": ..}`), or a
            `serdes.RegistryClient`.
        subject: The subject to register under; by default it is named by the topic and the strategy.
        topic: The topic that the column will be written to.
        strategy: TopicNameStrategy, RecordNameStrategy or TopicRecordNameStrategy.
        schema: The writer's schema; by default that of `version`, else a schema derived from the column's type.
        version: The subject's version to write with: a number, or `latest`.
        data: The DataFrame of the column. With it, the column is fitted to the schema: casts without loss, defaults,
            fields reordered. Without it, the column must have every field of the schema.
        record_name: The full name of the record in a derived schema.
        register: Whether a new schema is registered; else it is an error if the subject does not have the schema.
        normalize: Whether the registry normalises the schema when it registers or looks it up.
        drop_extra: Whether fields that the schema lacks are dropped; else they are refused.
        is_key: Whether the column will be a record's key, for the strategies with a topic, and for the header.
        schema_id: `prefix` puts the schema's id before the payload, `header` its guid into a header of the record. The
            column is then a struct of `value` (`key` with `is_key`) and `headers`, which Spark's Kafka sink takes.
        rules: What becomes of the rules of the schema. `apply` carries them out on values before they are encoded: in
            the JVM, or in Python workers if it cannot carry a whole rule out. `refuse` refuses schemas with rules.
        mode: What becomes of values that a rule rejects. FAILFAST raises. PERMISSIVE returns a struct of `value`, the
            column otherwise returned, and `error`: NULL, or a struct of `reason`, `rule` and `path`. DROP drops their
            rows (the column generates rows: only one such column per select).
        position: Columns of topic, partition and offset for errors.

    Raises:
        UnfitColumn: the column cannot be written with the schema without loss.
        UnsupportedSchema: Spark cannot write the schema: it is recursive, or has a decimal of over 38 digits.
        IncompatibleSchema: the subject's compatibility level refuses the schema.
        RulesNotSupported: the schema has rules, and `rules` refuses them.
        NoSubject, PlanError: a rule cannot be carried out, arguments contradict each other, or a named subject or
            version does not exist.
        RegistryUnavailable: the registry does not answer.
    """
    encoded = encode_avro(
        column,
        registry=registry,
        subject=subject,
        topic=topic,
        strategy=strategy,
        schema=schema,
        version=version,
        data=data,
        record_name=record_name,
        register=register,
        normalize=normalize,
        drop_extra=drop_extra,
        is_key=is_key,
        schema_id=schema_id,
        rules=rules,
    )
    return written(encoded, mode=mode, position=position)


def encode_avro(  # noqa: PLR0913 - independent settings, by name
    column: Any,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    strategy: str = "TopicNameStrategy",
    schema: Schema | None = None,
    version: int | str | None = None,
    data: DataFrame | None = None,
    record_name: str = "topLevelRecord",
    register: bool = True,
    normalize: bool = False,
    drop_extra: bool = False,
    is_key: bool = False,
    schema_id: str = PREFIX,
    rules: str = APPLY,
) -> Encoded:
    """A column as Avro, and what rules reject; the arguments and errors are those of `to_confluent_avro`."""
    check_schema_id(schema_id)
    check_rules(rules, WRITE)
    client = client_of(registry)
    payload = as_column(column)
    source = None if data is None else data.select(payload.alias("payload")).schema["payload"].dataType
    text = _schema_text_of(schema, version, source, record_name)
    name = _subject(client, text, subject, topic, strategy, is_key=is_key)
    held, text = _registered(client, name, text, version, register=register, normalize=normalize)
    label = f"schema id {held.id}"
    writer = trees.tree(parsed(client, text, name, label), label, reader=True)
    fitted = fit(payload, source, writer, drop_extra=drop_extra)
    listed = write_rules(written_schema(client, held), rules)
    failure = None
    if listed:
        carried = carry_out(avro_rules(listed, writer), opened(fitted))
        fitted, failure = carried.value, carried.failure
    # Avro reports a NULL that the schema does not allow; a check here would take a tenth of the encoding time.
    encoded = fitted if writer == {"type": "bytes"} else to_avro(fitted, trees.text(writer))
    return Encoded(framed(encoded, payload, held, schema_id, is_key=is_key), failure)


def _schema_text_of(
    schema: Schema | None, version: int | str | None, source: spark.DataType | None, record_name: str
) -> SchemaText | None:
    if schema is not None and version is not None:
        raise PlanError("give a schema or a version, not both")
    if isinstance(schema, str):
        return SchemaText(AVRO, schema)
    if schema is None and version is None:
        if source is None:
            raise PlanError("give a schema, a version, or the data whose column's type is to be the schema")
        return SchemaText(AVRO, derive(source, record_name))
    return schema


def _subject(
    client: RegistryClient,
    text: SchemaText | None,
    subject: str | None,
    topic: str | None,
    strategy: str,
    *,
    is_key: bool,
) -> str:
    if subject is not None:
        return subject
    if strategy not in STRATEGIES:
        raise PlanError(f"strategy is one of {', '.join(STRATEGIES)}, not {strategy!r}")
    context = None if topic is None else SerializationContext(topic, "key" if is_key else "value")
    full_name = None if text is None else parsed(client, text, None, "the schema").full_name
    try:
        name = STRATEGIES[strategy](context, full_name)
    except SerializationError:
        name = None
    if name is None:
        raise PlanError(f"{strategy} needs {'a record as schema' if topic or strategy.startswith('R') else 'a topic'}")
    return name


def _registered(
    client: RegistryClient,
    subject: str,
    text: SchemaText | None,
    version: int | str | None,
    *,
    register: bool,
    normalize: bool,
) -> tuple[RegisteredSchema, SchemaText]:
    if text is None:
        if version == LATEST:
            client.clear_latest_caches()
        try:
            registered = client.version(subject, LATEST if version is None else version)
        except SubjectNotFound:
            raise NoSubject(subject) from None
        except VersionNotFound as error:
            raise PlanError(f"subject {subject!r}: {error.message}") from error
        return registered, registered.schema
    return register_or_look_up(client, subject, text, register=register, normalize=normalize), text
