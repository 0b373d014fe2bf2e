"""Columns from Confluent-format messages: 0x00, a schema id of four bytes, and the payload."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.modes import FAILFAST, ColumnOrName, messages, present
from spark_avro.plan.decoding import Decoded, Decoding, decoded, schema_id
from spark_avro.registry import Registry
from spark_avro.selection import Selection, plan_decoding, select_versions
from spark_avro.workers.avro import decoded_in_python
from spark_avro.workers.udf import asked_by_workers


def from_confluent_avro(  # noqa: PLR0913 - each is a setting of its own, by name
    column: ColumnOrName,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    ids: Sequence[int] = (),
    reader_schema: str | None = None,
    record: str | None = None,
    fields: Sequence[str] | None = None,
    ask_registry: bool = False,
    mode: str = FAILFAST,
    position: Sequence[ColumnOrName] = (),
    is_key: bool = False,
) -> Column:
    """A column of Confluent-format Avro, decoded with the schema each record was written with.

    All schemas are read from the registry here, on the driver, and the JVM decodes: executors ask the registry nothing.
    NULL stays NULL.

    Args:
        column: Binary: magic byte, schema id, payload.
        registry: The registry's URL, or a `serdes.RegistryClient`.
        subject: All versions of this subject are known; its latest is the reader's schema.
        topic: The same, for the subject `{topic}-value`, or `{topic}-key` with `is_key`.
        ids: Further ids that are known; without subject and topic, the first is the reader's schema.
        reader_schema: The Avro text of the schema that values are presented as, in place of the latest.
        record: The full name of the records wanted where the subject has several: others become NULL (with DROP they
            are left out), and the newest version of that name is the reader's schema.
        fields: The only fields to decode, with dots into nested records; the largest single saving there is.
        ask_registry: Whether Python workers ask the registry for ids that were not known when the query was planned,
            and decode their records; the others' path costs more by it, too.
        mode: FAILFAST raises on the first broken record. PERMISSIVE gives a struct of `value` and `error`: error is
            NULL, or a struct of `reason`, `id` and `raw`, and value is NULL then. DROP leaves broken records out of
            the rows (the column generates rows: one such column a select).
        position: Columns of topic, partition and offset, to be named in errors: KAFKA_POSITION with the Kafka source.
        is_key: Whether `topic` stands for its key's subject.

    Raises:
        NoSubject: the registry does not have the subject.
        UnsupportedSchema: Spark has no faithful type for a schema: a recursive one, a decimal of over 38 digits.
        RulesNotSupported: all schemas, or the reader's, have rules that a client must carry out; if only some have,
            their records are broken.
        PlanError: arguments contradict each other, or name what does not exist.
        RegistryUnavailable: the registry does not answer.
    """
    chosen = select_versions(
        registry=registry,
        subject=subject,
        topic=topic,
        ids=ids,
        reader_schema=reader_schema,
        record=record,
        is_key=is_key,
    )
    how = plan_decoding(chosen, fields, record)
    if ask_registry:
        payload = messages(column)
        parts = _with_fallback(payload, how, chosen, asked_by_workers(registry))
        return present(parts, payload, mode=mode, position=position, drop=_unwanted(payload, how))
    return decode_column(column, how, mode=mode, position=position)


def decode_column(
    column: ColumnOrName, how: Decoding, *, mode: str = FAILFAST, position: Sequence[ColumnOrName] = ()
) -> Column:
    """A column decoded by a plan that was made before; see from_confluent_avro."""
    payload = messages(column)
    return present(decoded(payload, how), payload, mode=mode, position=position, drop=_unwanted(payload, how))


def _with_fallback(payload: Column, how: Decoding, chosen: Selection, asked: str) -> Decoded:
    """The JVM's parts, and those of Python workers for ids that it does not know; these get NULL for all others."""
    parts = decoded(payload, how)
    known = [*how.ids, *how.unreadable, *how.others]
    is_known = F.coalesce(schema_id(payload).isin(*known), F.lit(False))
    foreign = F.when(schema_id(payload).isNotNull() & ~is_known, payload)
    in_python = decoded_in_python(foreign, chosen, reader=how.reader, asked=asked)
    is_foreign = foreign.isNotNull()
    return Decoded(
        F.when(is_foreign, in_python.value).otherwise(parts.value),
        F.when(is_foreign, in_python.sound).otherwise(parts.sound),
        F.coalesce(in_python.reason, parts.reason),
        parts.schema_id,
    )


def _unwanted(payload: Column, how: Decoding) -> Column | None:
    if not how.others:
        return None
    return F.coalesce(schema_id(payload).isin(*how.others), F.lit(False))


def confluent_schema_id(column: ColumnOrName) -> Column:
    """The schema id of each message as a long; NULL where the message is NULL, too short, or of another magic byte."""
    return schema_id(messages(column))
