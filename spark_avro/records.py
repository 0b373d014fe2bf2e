"""Several record types in one topic: a struct with one field per type, one of them set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import AVRO
from serdes.client.clients import RegistryClient
from serdes.rules.context import READ
from spark_avro.errors import NoSubject, PlanError
from spark_avro.modes import message_in, present
from spark_avro.plan import tree as trees
from spark_avro.plan.decoding import Decoding, decoded, decoding, long_decimals
from spark_avro.plan.frames import Guids, Message, schema_id
from spark_avro.plan.outcomes import FAILFAST
from spark_avro.plan.parts import Decoded, parts_of
from spark_avro.plan.reasons import reason
from spark_avro.plan.rules.listed import APPLY, check_rules
from spark_avro.plan.rules.reading import ReadRules, read_rules
from spark_avro.plan.rules.refusing import refuse_all, with_refusals
from spark_avro.plan.selection import guids_of
from spark_avro.registry import (
    Registry,
    Version,
    client_of,
    newest_first,
    version_type,
    versions_of,
)


def from_confluent_avro_records(
    column: Any,
    *,
    registry: Registry,
    subjects: Sequence[str] = (),
    topic: str | None = None,
    mode: str = FAILFAST,
    position: Sequence[Any] = (),
    headers: Any = None,
    rules: str = APPLY,
) -> Column:
    """A column of Confluent-format Avro records of several types: a struct with a field for each type.

    The field of the record's type is set and the others are NULL. A field has the name of its record, without the
    namespace unless two records differ only in that, and the type of the newest version of that name.

    Args:
        column: Binary: magic byte, schema id, payload.
        registry: The registry's URL, the settings of its client (`{"url": .., "basic.auth.user.info": ..}`), or a
            `serdes.RegistryClient`.
        subjects: The subjects whose versions are decoded; if they share a record's name, newest last.
        topic: Instead of subjects, a topic: all its subjects by the topic record name strategy, `{topic}-{full name}`.
        mode: As in `from_confluent_avro`; the value of a broken record is NULL.
        position: As in `from_confluent_avro`.
        headers: As in `from_confluent_avro`.
        rules: As in `from_confluent_avro`; each type has the rules of its newest version.

    Raises:
        NoSubject: the registry does not have a subject, or has none for the topic.
        UnsupportedSchema: Spark has no faithful type for a schema.
        RulesNotSupported: all schemas have rules that a client must carry out; if only some have, their records are
            broken.
        PlanError: a version is not a record, or a rule cannot be carried out.
    """
    check_rules(rules, READ)
    client = client_of(registry)
    names = list(subjects) or _subjects_of(client, topic)
    versions = newest_first([version for name in names for version in versions_of(client, name)])
    sent = message_in(column, headers, is_key=False)
    plan = RecordsPlan.of(versions, names, rules=rules)
    return present(plan.parts(sent), sent.payload, mode=mode, position=position)


@dataclass(frozen=True, slots=True)
class RecordsPlan:
    """The plan for reading records of several types.

    Attributes:
        plans: The decoding of each type, by the name of its field.
        guids: The ids of the schemas' guids, newest first.
    """

    plans: Mapping[str, Decoding]
    guids: Guids
    has_indexes: ClassVar[bool] = False

    @classmethod
    def of(
        cls,
        versions: Sequence[Version],
        subjects: Sequence[str],
        other_guids: Guids | None = None,
        *,
        rules: str = APPLY,
    ) -> RecordsPlan:
        """The plan for the versions of subjects, newest first; see `plan_records`."""
        guids = {**guids_of(versions), **(other_guids or {})}
        return cls(plan_records(versions, subjects, guids, rules), guids)

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids whose records can be read."""
        return tuple(schema_id for plan in self.plans.values() for schema_id in plan.ids)

    @property
    def unreadable(self) -> Mapping[int, str]:
        """The reasons why records cannot be read, by id."""
        return {schema_id: problem for plan in self.plans.values() for schema_id, problem in plan.unreadable.items()}

    @property
    def rules(self) -> ReadRules:
        """The rules on records of all types."""
        plans = self.plans.values()
        domain = tuple(rule for plan in plans for rule in plan.rules.domain)
        return ReadRules(domain, {key: task for plan in plans for key, task in plan.rules.by_id.items()})

    def parts(self, message: Message) -> Decoded:
        """The parts of a message decoded by this plan."""
        return parts_of(
            message, self.guids, lambda by_id: self._decoded(by_id, message.replayed), before=self.rules.by_id
        )

    def _decoded(self, message: Column, replayed: Column | None) -> Decoded:
        parts = {field: decoded(message, plan, replayed) for field, plan in self.plans.items()}
        # A type's `sound` is true only for its records, and its value is NULL for all others.
        sound = F.greatest(message.isNull(), *(part.sound for part in parts.values()))
        together = F.array(F.struct(*(part.value.alias(field) for field, part in parts.items())))
        value = F.get(together, F.when(message.isNotNull(), F.lit(0)))
        first = next(iter(self.plans.values()))
        explained = [item for plan in self.plans.values() for item in long_decimals(message, plan)]
        why = reason(
            message,
            ids=self.ids,
            unreadable=self.unreadable,
            origin=first.origin,
            explained=explained,
        )
        failures = [part.failure for part in parts.values() if part.failure is not None]
        if not failures:
            return Decoded(value, sound, why, schema_id(message))
        return Decoded(value, sound, why, schema_id(message)).failed(F.coalesce(*failures))


def plan_records(
    versions: Sequence[Version], subjects: Sequence[str], guids: Guids, rules: str
) -> Mapping[str, Decoding]:
    """Plans how records of several types are read: one decoding per type, by the field's name."""
    origin = f"subjects {', '.join(subjects)}"
    by_name: dict[str, list[Version]] = {}
    for version in versions:
        if version.schema.full_name is None:
            raise PlanError(f"{version.label} is no record, and only records have names to tell them apart by")
        by_name.setdefault(version.schema.full_name, []).append(version)
    by_name = {name: with_refusals(members, members[0].ruled, rules) for name, members in by_name.items()}
    refuse_all([version for members in by_name.values() for version in members], None, rules)
    short = [name.rpartition(".")[2].lower() for name in by_name]
    plans = {}
    for name, members in by_name.items():
        last = name.rpartition(".")[2]
        field = last if short.count(last.lower()) == 1 else name.replace(".", "_")
        reader = trees.tree(members[0].schema, members[0].label, reader=True)
        plan = decoding(members, reader, origin, guids=guids)
        if members[0].refusal is None:
            plan = replace(plan, rules=read_rules(members, members[0], rules, of_writers=False))
        plans[field] = plan
    # Newest first so far; the fields are in the order in which the types were registered.
    return dict(reversed(plans.items()))


def subjects_of_topics(client: RegistryClient, topics: Sequence[str]) -> list[str]:
    """The subjects of topics' values: `TOPIC-value`, and by the topic record name strategy `TOPIC-RECORD`.

    Raises:
        NoSubject: the registry has none for a topic.
    """
    subjects: list[str] = []
    for topic in topics:
        listed = client.subjects(f"{topic}-")
        of_topic = [subject for subject in listed if subject == f"{topic}-value"]
        of_topic += _named_by_records(client, topic, listed)
        if not of_topic:
            raise NoSubject(f"{topic}-value", f"nor one of the topic record name strategy's for topic {topic}")
        subjects += of_topic
    return subjects


def _subjects_of(client: RegistryClient, topic: str | None) -> list[str]:
    if topic is None:
        raise PlanError("give subjects or a topic")
    subjects = _named_by_records(client, topic, client.subjects(f"{topic}-"))
    if not subjects:
        raise NoSubject(f"{topic}-*", f"the topic record name strategy's for topic {topic}")
    return subjects


def _named_by_records(client: RegistryClient, topic: str, listed: Sequence[str]) -> list[str]:
    """The subjects of a topic by the topic record name strategy, among those that begin with `TOPIC-`."""
    # The prefix also matches `flights-value`, and `flights-late-Flight` of the topic flights-late: compare the name.
    return [
        subject
        for subject in listed
        if version_type(client, subject) == AVRO
        and versions_of(client, subject)[-1].schema.full_name == subject.removeprefix(f"{topic}-")
    ]
