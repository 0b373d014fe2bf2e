"""Columns of Avro decoded in Python workers with this project's codecs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import types as spark

from spark_avro.modes import message_in, present
from spark_avro.plan import tree as trees
from spark_avro.plan.after_rules import after_rules
from spark_avro.plan.outcomes import FAILFAST
from spark_avro.plan.parts import Decoded, parts_of
from spark_avro.plan.rules.asked import check_asked
from spark_avro.plan.rules.listed import APPLY
from spark_avro.plan.rules.reading import avro_rules
from spark_avro.plan.selection import Selection, select_versions
from spark_avro.plan.spark_form import reader_text
from spark_avro.plan.tree import Tree
from spark_avro.plan.types import spark_type
from spark_avro.registry import Registry
from spark_avro.workers.decoding import WorkerSettings, avro_decoder, avro_json_decoder
from spark_avro.workers.udf import decoded_by, worker_settings


def confluent_avro_udf(  # noqa: PLR0913 - each is a setting of its own, by name
    column: Any,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    ids: Sequence[int] = (),
    reader_schema: str | None = None,
    as_json: bool = False,
    ask_registry: bool = False,
    mode: str = FAILFAST,
    position: Sequence[Any] = (),
    is_key: bool = False,
    headers: Any = None,
    rules: str = APPLY,
) -> Column:
    """Decode a column of Confluent-format Avro in Python workers: slower than `from_confluent_avro`, with more options.

    Args:
        column: Binary: magic byte, schema id, payload.
        registry: The registry's URL, the settings of its client, or a client.
        subject: As in `from_confluent_avro`.
        topic: As in `from_confluent_avro`.
        ids: As in `from_confluent_avro`.
        reader_schema: As in `from_confluent_avro`; for recursive data, the part for which Spark has a type.
        as_json: Whether the values are texts of Avro JSON, which also works for recursive schemas.
        ask_registry: Whether workers ask the registry for ids that were not known when the query was planned.
        mode: As in `from_confluent_avro`.
        position: As in `from_confluent_avro`.
        is_key: As in `from_confluent_avro`.
        headers: As in `from_confluent_avro`.
        rules: As in `from_confluent_avro`.

    Raises:
        UnsupportedSchema: the reader's schema is recursive, without `as_json`, or a decimal has more than 38 digits.
        NoSubject, PlanError, RulesNotSupported, RegistryUnavailable: as `from_confluent_avro`.
    """
    sent = message_in(column, headers, is_key=is_key)
    chosen = select_versions(
        registry=registry,
        subject=subject,
        topic=topic,
        ids=ids,
        reader_schema=reader_schema,
        is_key=is_key,
        as_written=as_json,
        rules=rules,
    )
    asked = worker_settings(registry) if ask_registry else None
    check_asked(chosen.rules, asked)

    def decode(by_id: Column) -> Decoded:
        if as_json:
            return decoded_as_json(by_id, chosen, asked=asked)
        tree = trees.tree(chosen.reader.schema, chosen.reader.label, reader=True)
        parts = decoded_in_python(by_id, chosen, reader=tree, asked=asked)
        return after_rules(parts, avro_rules(chosen.rules.domain, tree), sent.replayed)

    parts = parts_of(sent, chosen.guids, decode, before=chosen.rules.by_id)
    return present(parts, sent.payload, mode=mode, position=position)


def decoded_as_json(message: Column, chosen: Selection, *, asked: WorkerSettings | None) -> Decoded:
    """The parts of a column whose values are texts of Avro JSON."""
    reader = chosen.reader.schema.rendered("resolved") if chosen.explicit else None
    batch = avro_json_decoder(chosen.sent_schemas, reader, chosen.origin, chosen.seam, asked)
    return decoded_by(batch, message, spark.StringType())


def decoded_in_python(
    message: Column, chosen: Selection, *, reader: Tree, asked: WorkerSettings | None = None
) -> Decoded:
    """The parts of a column that workers decode.

    Args:
        message: The messages with ids before the payloads.
        chosen: The schemas.
        reader: The tree of the reader's schema, or of the part of it that is used.
        asked: The settings of the registry's client for looking up other ids; None if other ids are errors.
    """
    batch = avro_decoder(chosen.sent_schemas, reader_text(reader), chosen.origin, chosen.seam, asked)
    return decoded_by(batch, message, spark_type(reader))
