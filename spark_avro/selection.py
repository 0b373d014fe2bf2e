"""What a column is decoded with: the versions that the registry has, and the reader's schema among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compat.avro import AvroSchema
from serdes.schema import Ruled
from spark_avro import tree as trees
from spark_avro.errors import PlanError
from spark_avro.plan import Decoding, decoding
from spark_avro.registry import (
    Registry,
    Version,
    client_of,
    latest_of,
    newest_first,
    parsed_text,
    refuse_all,
    subject_of,
    versions_by_id,
    versions_of,
    with_refusals,
)


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for, as the registry has it.

    Attributes:
        versions: Newest first.
        reader: The schema that values are presented as.
        label: What that schema is called in errors.
        origin: What the versions are of.
        explicit: Whether the reader's schema was given, and is none of the versions.
        reader_ruled: The reader's schema with its rules; None if it was given, or if records are shown as written.
    """

    versions: Sequence[Version]
    reader: AvroSchema
    label: str
    origin: str
    explicit: bool
    reader_ruled: Ruled | None = None


def select_versions(
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    ids: Sequence[int] = (),
    reader_schema: str | None = None,
    record: str | None = None,
    is_key: bool = False,
    as_written: bool = False,
) -> Selection:
    """What `from_confluent_avro` reads from the registry; the arguments and errors are its own.

    With `as_written`, records are shown as they were written, unless there is a `reader_schema`: the rules of the
    latest version do not apply to those of the others.
    """
    if subject is not None and topic is not None:
        raise PlanError("give a subject or a topic, not both")
    if subject is None and topic is None and not ids:
        raise PlanError("give a subject, a topic, or ids")
    client = client_of(registry)
    name, why = subject_of(subject=subject, topic=topic, is_key=is_key) if subject or topic else (None, "")
    origin = f"subject {name}" if name is not None else f"ids {', '.join(map(str, ids))}"
    by_id = versions_by_id(client, ids, name)
    versions = newest_first([*by_id, *(versions_of(client, name, why=why) if name is not None else ())])
    if reader_schema is not None:
        versions = with_refusals(versions, None)
        refuse_all(versions)
        return Selection(versions, parsed_text(reader_schema), "the reader's schema", origin, explicit=True)
    if record is not None:
        latest = _newest_named(versions, record, origin)
    elif name is not None:
        latest = latest_of(client, name, why=why)
    else:
        latest = by_id[0]
    reader = None if as_written else latest.ruled
    versions = with_refusals(versions, reader)
    refuse_all(versions, reader)
    return Selection(versions, latest.schema, latest.label, origin, explicit=False, reader_ruled=reader)


def _newest_named(versions: Sequence[Version], record: str, origin: str) -> Version:
    for version in versions:
        if version.schema.full_name == record:
            return version
    known = sorted({version.schema.full_name for version in versions if version.schema.full_name})
    raise PlanError(f"no version of {origin} is a record {record}; there are {', '.join(known) or 'none'}")


def plan_decoding(chosen: Selection, fields: Sequence[str] | None = None, record: str | None = None) -> Decoding:
    """How the JVM decodes what was selected; see `from_confluent_avro`."""
    reader = trees.tree(chosen.reader, chosen.label, reader=True)
    if fields is not None:
        reader = trees.prune(reader, list(fields), chosen.label)
    return decoding(chosen.versions, reader, chosen.origin, record=record)
