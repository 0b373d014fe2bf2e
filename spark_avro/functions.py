"""Columns from and to Confluent-format messages: 0x00, a schema id of four bytes, and the payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro import tree as trees
from spark_avro.errors import PlanError
from spark_avro.plan import Decoded, Decoding, decoded, decoding, schema_id
from spark_avro.registry import (
    Registry,
    client_of,
    latest_of,
    newest_first,
    parsed_text,
    subject_of,
    versions_by_id,
    versions_of,
)

FAILFAST = "FAILFAST"
PERMISSIVE = "PERMISSIVE"
DROP = "DROP"

#: The columns of Spark's Kafka source that say where a record came from.
KAFKA_POSITION = ("topic", "partition", "offset")

#: A column, or the name of one.
ColumnOrName = Any


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
    mode: str = FAILFAST,
    position: Sequence[ColumnOrName] = (),
    is_key: bool = False,
) -> Column:
    """A column of Confluent-format Avro, decoded with the schema each record was written with.

    All schemas are read from the registry here, on the driver, and the JVM decodes: executors ask the registry nothing.
    NULL stays NULL.

    Args:
        column: Binary: magic byte, schema id, payload.
        registry: The registry's URL, or a `serdes.client.RegistryClient`.
        subject: All versions of this subject are known; its latest is the reader's schema.
        topic: The same, for the subject `{topic}-value`, or `{topic}-key` with `is_key`.
        ids: Further ids that are known; without subject and topic, the first is the reader's schema.
        reader_schema: The Avro text of the schema that values are presented as, in place of the latest.
        record: The full name of the records wanted where the subject has several: others become NULL (with DROP they
            are left out), and the newest version of that name is the reader's schema.
        fields: The only fields to decode, with dots into nested records; the largest single saving there is.
        mode: FAILFAST raises on the first broken record. PERMISSIVE gives a struct of `value` and `error`: error is
            NULL, or a struct of `reason`, `id` and `raw`, and value is NULL then. DROP leaves broken records out of
            the rows (the column generates rows: one such column a select).
        position: Columns of topic, partition and offset, to be named in errors: KAFKA_POSITION with the Kafka source.
        is_key: Whether `topic` stands for its key's subject.

    Raises:
        NoSubject: the registry does not have the subject.
        UnsupportedSchema: Spark has no faithful type for a schema: a recursive one, a decimal of over 38 digits.
        PlanError: arguments contradict each other, or name what does not exist.
        RegistryUnavailable: the registry does not answer.
    """
    how = plan_decoding(
        registry=registry,
        subject=subject,
        topic=topic,
        ids=ids,
        reader_schema=reader_schema,
        record=record,
        fields=fields,
        is_key=is_key,
    )
    return decode_column(column, how, mode=mode, position=position)


def plan_decoding(
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    ids: Sequence[int] = (),
    reader_schema: str | None = None,
    record: str | None = None,
    fields: Sequence[str] | None = None,
    is_key: bool = False,
) -> Decoding:
    """What `from_confluent_avro` reads from the registry; the arguments and errors are its own."""
    if subject is not None and topic is not None:
        raise PlanError("give a subject or a topic, not both")
    if subject is None and topic is None and not ids:
        raise PlanError("give a subject, a topic, or ids")
    client = client_of(registry)
    name, why = subject_of(subject=subject, topic=topic, is_key=is_key) if subject or topic else (None, "")
    versions = versions_by_id(client, ids, name)
    if name is not None:
        versions += versions_of(client, name, why=why)
    origin = f"subject {name}" if name is not None else f"ids {', '.join(map(str, ids))}"
    versions = newest_first(versions)
    if reader_schema is not None:
        label, read = "the reader's schema", parsed_text(reader_schema)
    elif record is not None:
        named = next((version for version in versions if version.schema.full_name == record), None)
        if named is None:
            known = sorted({version.schema.full_name for version in versions if version.schema.full_name})
            raise PlanError(f"no version of {origin} is a record {record}; there are {', '.join(known) or 'none'}")
        label, read = named.label, named.schema
    else:
        latest = versions[-1] if name is None else latest_of(client, name, why=why)
        label, read = latest.label, latest.schema
    reader = trees.tree(read, label, reader=True)
    if fields is not None:
        reader = trees.prune(reader, list(fields), label)
    return decoding(versions, reader, origin, record=record)


def decode_column(
    column: ColumnOrName, how: Decoding, *, mode: str = FAILFAST, position: Sequence[ColumnOrName] = ()
) -> Column:
    """A column decoded by a plan that was made before; see from_confluent_avro."""
    payload = _column(column)
    return present(decoded(payload, how), payload, mode=mode, position=position, drop=_unwanted(payload, how))


def present(
    parts: Decoded, payload: Column, *, mode: str, position: Sequence[ColumnOrName] = (), drop: Column | None = None
) -> Column:
    """A decoded column in a mode; `drop` says which sound rows DROP leaves out as well."""
    if mode == FAILFAST:
        return F.when(parts.sound, parts.value).otherwise(F.raise_error(_message(parts, position)))
    if mode == PERMISSIVE:
        return F.struct(F.when(parts.sound, parts.value).alias("value"), _error(parts, payload).alias("error"))
    if mode == DROP:
        # explode of an empty array is no row; of an array with a NULL in it, one.
        kept = F.array(F.when(parts.sound, parts.value))
        wanted = parts.sound if drop is None else parts.sound & ~drop
        return F.explode(F.slice(kept, F.lit(1), F.when(wanted, _volatile(1)).otherwise(F.lit(0))))
    raise PlanError(f"mode is FAILFAST, PERMISSIVE or DROP, not {mode!r}")


def _unwanted(payload: Column, how: Decoding) -> Column | None:
    if not how.others:
        return None
    return F.coalesce(schema_id(payload).isin(*how.others), F.lit(False))


def confluent_schema_id(column: ColumnOrName) -> Column:
    """The schema id of each message as a long; NULL where the message is NULL, too short, or of another magic byte."""
    return schema_id(_column(column))


def _column(column: ColumnOrName) -> Column:
    return F.col(column) if isinstance(column, str) else column


def _error(parts: Decoded, payload: Column) -> Column:
    return F.when(
        ~parts.sound,
        F.struct(
            F.concat(parts.reason, _volatile("")).alias("reason"),
            parts.schema_id.alias("id"),
            payload.alias("raw"),
        ),
    )


def _message(parts: Decoded, position: Sequence[ColumnOrName]) -> Column:
    where = [
        F.concat(F.lit(f" {name} "), F.coalesce(_column(column).cast("string"), F.lit("?")), F.lit(","))
        for name, column in zip(KAFKA_POSITION, position, strict=False)
    ]
    task = F.concat(F.lit(" Spark partition "), F.spark_partition_id().cast("string"))
    return F.concat(parts.reason, F.lit(" at"), *where, task)


def _volatile(value: int | str) -> Column:
    """A literal that the optimiser takes for no constant, so that what holds it is not evaluated in two places."""
    kind = "int" if isinstance(value, int) else "string"
    return F.when(F.spark_partition_id() >= 0, F.lit(value)).otherwise(F.lit(None).cast(kind))
