"""The schemas that a column is decoded with: the registry's versions, and the reader's schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from compat.schema import AVRO, SchemaText
from serdes.rules.context import READ, Ruled
from spark_avro.errors import PlanError
from spark_avro.plan import tree as trees
from spark_avro.plan.decoding import Decoding, decoding
from spark_avro.plan.frames import Guids
from spark_avro.plan.rules.listed import APPLY, check_rules
from spark_avro.plan.rules.migrating import with_foreign_refused
from spark_avro.plan.rules.reading import NO_RULES, ReadRules, read_rules
from spark_avro.plan.rules.refusing import Seam, refuse_all, with_refusals
from spark_avro.registry import (
    Registry,
    Version,
    client_of,
    newest_first,
    subject_of,
    version_of,
    versions_by_id,
    versions_of,
)
from spark_avro.sent_schema import SentSchema


@dataclass(frozen=True, slots=True)
class Selection:
    """The schemas that the arguments of a function select in the registry.

    Attributes:
        versions: The writers' versions, newest first.
        reader: The version that values are resolved to.
        origin: The source of the versions, for errors.
        explicit: Whether the reader's schema was given as text instead of a version.
        reader_ruled: The reader's schema with its rules; None if they do not apply.
        other_guids: The ids of guids that are in no version, for errors.
        rules_mode: What becomes of rules: apply, refuse or ignore.
        rules: The rules to carry out.
    """

    versions: Sequence[Version]
    reader: Version
    origin: str
    explicit: bool = False
    reader_ruled: Ruled | None = None
    other_guids: Guids = field(default_factory=dict)
    rules_mode: str = APPLY
    rules: ReadRules = NO_RULES

    @property
    def guids(self) -> Guids:
        """The ids of the versions' guids, newest first, and of the others."""
        return {**guids_of(self.versions), **self.other_guids}

    @property
    def sent_schemas(self) -> Mapping[int, SentSchema]:
        """The versions by id, in the form for workers."""
        return {version.id: version.sent for version in self.versions}

    @property
    def seam(self) -> Seam:
        """The seam that decides in workers whether records of a schema may be read."""
        return Seam(self.reader_ruled, self.rules_mode)

    @property
    def readable_ids(self) -> tuple[int, ...]:
        """The ids of the versions that records can be read with."""
        return tuple(version.id for version in self.versions if version.refusal is None)

    @property
    def refusals(self) -> Mapping[int, str]:
        """The reasons why records of the other versions cannot be read, by id."""
        return {version.id: version.refusal for version in self.versions if version.refusal is not None}


def select_versions(  # noqa: PLR0913 - independent settings, by name
    *,
    registry: Registry,
    schema_type: str = AVRO,
    subject: str | None = None,
    topic: str | None = None,
    ids: Sequence[int] = (),
    reader_schema: str | None = None,
    record: str | None = None,
    is_key: bool = False,
    as_written: bool = False,
    reader_version: int | None = None,
    rules: str = APPLY,
) -> Selection:
    """Selects the versions of a subject or a topic's, and further ids; the reader's is the latest, or the first id's.

    Args:
        registry: The registry's URL, the settings of its client, or a client.
        schema_type: The type that all schemas must be of.
        subject: As in `from_confluent_avro`.
        topic: As in `from_confluent_avro`.
        ids: As in `from_confluent_avro`.
        reader_schema: As in `from_confluent_avro`.
        record: As in `from_confluent_avro`.
        is_key: As in `from_confluent_avro`.
        as_written: Whether the reader's rules do not apply, because records are read as written, or as a type given in
            code.
        reader_version: The version of the subject that values are resolved to, instead of the latest.
        rules: As in `from_confluent_avro`.

    Raises:
        NoSubject: the registry does not have the subject.
        PlanError: nothing is selected, or the registry has no schema of an id, or no version has this record.
        UnsupportedSchema: a schema is of another type.
        RulesNotSupported: all schemas, or the reader's, have rules that nobody carries out here.
    """
    check_rules(rules, READ)
    if subject is not None and topic is not None:
        raise PlanError("give a subject or a topic, not both")
    if subject is None and topic is None and not ids:
        raise PlanError("give a subject, a topic, or ids")
    client = client_of(registry)
    name, why = subject_of(subject=subject, topic=topic, is_key=is_key) if subject or topic else (None, "")
    origin = f"subject {name}" if name is not None else f"ids {', '.join(map(str, ids))}"
    by_id = versions_by_id(client, ids, name, schema_type)
    of_subject = versions_of(client, name, schema_type, why=why) if name is not None else ()
    versions = newest_first([*by_id, *of_subject])
    if reader_schema is not None:
        reader = Version(0, Ruled("the reader's schema", SchemaText(AVRO, reader_schema)))
    elif record is not None:
        reader = _newest_named(versions, record, origin)
    else:
        reader = by_id[0] if name is None else version_of(client, name, schema_type, reader_version, why=why)
    reader_ruled = None if as_written or reader_schema is not None else reader.ruled
    versions = with_refusals(versions, reader_ruled, rules)
    if rules == APPLY and reader_ruled is not None:
        versions = with_foreign_refused(versions, reader)
    carried_out = read_rules(versions, reader, rules, of_writers=reader_ruled is None)
    refuse_all(versions, reader_ruled, rules)
    return Selection(
        versions,
        reader,
        origin,
        explicit=reader_schema is not None,
        reader_ruled=reader_ruled,
        rules_mode=rules,
        rules=carried_out,
    )


def guids_of(versions: Sequence[Version]) -> Guids:
    """The ids of the guids of versions, newest first; a registry without guids gives none."""
    guids: dict[str, int] = {}
    for version in versions:
        if version.guid is not None:
            guids.setdefault(version.guid, version.id)
    return guids


def _newest_named(versions: Sequence[Version], record: str, origin: str) -> Version:
    for version in versions:
        if version.schema.full_name == record:
            return version
    names = sorted({version.schema.full_name for version in versions if version.schema.full_name})
    raise PlanError(f"no version of {origin} is a record {record}; there are {', '.join(names) or 'none'}")


def plan_decoding(chosen: Selection, fields: Sequence[str] | None = None, record: str | None = None) -> Decoding:
    """The plan by which the JVM decodes a selection; see `from_confluent_avro`."""
    reader = trees.tree(chosen.reader.schema, chosen.reader.label, reader=True)
    pruned = None if fields is None else trees.prune(reader, list(fields), chosen.reader.label)
    # Rules may need the other fields.
    has_rules = bool(chosen.rules.domain)
    whole = reader if pruned is None or has_rules else pruned
    plan = decoding(chosen.versions, whole, chosen.origin, guids=chosen.guids, record=record)
    return replace(plan, rules=chosen.rules, kept=pruned if has_rules else None)
