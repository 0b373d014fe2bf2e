"""Decoding plans that follow the registry: `refresh` makes them again with the newest versions."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Protocol

from compat.schema import AVRO, JSON, PROTOBUF
from serdes.error import RegistryUnavailable, SchemaNotFound
from spark_avro.json_schema.functions import plan_json
from spark_avro.plan.parts import ColumnPlan
from spark_avro.plan.rules.listed import APPLY
from spark_avro.plan.selection import Selection, plan_decoding, select_versions
from spark_avro.protobuf.functions import plan_protobuf
from spark_avro.records import RecordsPlan, subjects_of_topics
from spark_avro.registry import (
    Registry,
    Version,
    client_of,
    id_of_guid,
    newest_first,
    subject_of,
    version_type,
    versions_of,
)

log = logging.getLogger(__name__)

#: The type of a subject's latest version.
AUTO = "AUTO"

#: What records call a schema: its id or its guid.
SchemaName = int | str

#: Seconds before the registry is asked again for a guid that it lacks, and the most guids to ask for at once.
_ASK_AGAIN, _ASKED_AT_ONCE = 60.0, 50


def schema_names(plan: ColumnPlan) -> set[SchemaName]:
    """The ids that a plan can read, and the guids whose ids it knows."""
    return {*plan.ids, *plan.guids}


def names_in(texts: Iterable[str]) -> frozenset[SchemaName]:
    """The ids and guids in texts."""
    return frozenset(int(text) if text.isdecimal() else text for text in texts)


class Plans(Protocol):
    """The source of a column's plan: a follower of the registry, or one fixed plan."""

    @property
    def plan(self) -> ColumnPlan:
        """The last plan."""

    @property
    def versions(self) -> Mapping[int, int]:
        """The version numbers of the last plan's schemas, by id."""

    def refresh(self) -> ColumnPlan:
        """The newest plan, or the last one if the registry does not answer."""

    def read(self) -> ColumnPlan:
        """The newest plan.

        Raises:
            RegistryUnavailable: the registry does not answer.
        """

    def find(self, unknown: Collection[SchemaName]) -> None:
        """Learns the ids of guids that the plan lacks, for the errors of their records; makes a new plan if it does.

        Raises:
            RegistryUnavailable: the registry does not answer.
        """


@dataclass(slots=True)
class RegistryFollower:
    """The part that followers share: they keep the last plan, and read the registry to make a new one.

    Attributes:
        registry: As in `from_confluent_avro`.
    """

    registry: Registry = field(repr=False)
    _plan: ColumnPlan | None = field(default=None, init=False, repr=False)
    _versions: Mapping[int, int] = field(default_factory=dict, init=False, repr=False)
    _other_guids: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    _asked: dict[str, float] = field(default_factory=dict, init=False, repr=False)

    @property
    def plan(self) -> ColumnPlan:
        """The plan of the last refresh."""
        return self.refresh() if self._plan is None else self._plan

    @property
    def versions(self) -> Mapping[int, int]:
        """The version numbers of the last plan's schemas, by id."""
        return self._versions

    def refresh(self) -> ColumnPlan:
        """Reads the registry and makes a new plan; if the registry does not answer, keeps the last plan.

        Raises:
            RegistryUnavailable: the registry does not answer, and there is no plan yet.
        """
        try:
            return self.read()
        except RegistryUnavailable as error:
            if self._plan is None:
                raise
            log.warning(
                "the registry does not answer; the last plan is used: %s",
                error,
                extra={"event": "registry_unreachable", "error": str(error)},
            )
            return self._plan

    def read(self) -> ColumnPlan:
        """Reads the registry and makes a new plan.

        Raises:
            RegistryUnavailable: the registry does not answer.
        """
        self.registry = client_of(self.registry)
        before = self._plan
        self._plan, versions = self._make()
        # The same schema may have several numbers: the newest comes first.
        self._versions = {
            version.id: version.number for version in reversed(list(versions)) if version.number is not None
        }
        if before is not None and (new := set(self._plan.ids) - set(before.ids)):
            log.info("new schema ids are read: %s", ", ".join(map(str, sorted(new))), extra={"event": "schema_ids_new"})
        return self._plan

    def find(self, unknown: Collection[SchemaName]) -> None:
        """Learns the ids of guids that the plan lacks, for the errors of their records; makes a new plan if it does.

        A guid that the registry lacks is asked for again after a minute.

        Raises:
            RegistryUnavailable: the registry does not answer.
        """
        now = time.monotonic()
        self._asked = {guid: asked for guid, asked in self._asked.items() if now - asked < _ASK_AGAIN}
        lacking = (name for name in unknown if isinstance(name, str) and name not in self.plan.guids)
        for guid in islice((guid for guid in lacking if guid not in self._asked), _ASKED_AT_ONCE):
            schema_id = id_of_guid(client_of(self.registry), guid, self._first_subject())
            self._asked[guid] = now
            if schema_id is not None:
                self._other_guids[guid] = schema_id
        if not self._other_guids.keys() <= self.plan.guids.keys():
            self.read()

    def has(self, name: SchemaName) -> bool:
        """Whether the registry has a schema of an id or guid, in any subject.

        Raises:
            RegistryUnavailable: the registry does not answer.
        """
        try:
            client = client_of(self.registry)
            client.schema_by_id(name) if isinstance(name, int) else client.schema_by_guid(name)
        except SchemaNotFound:
            return False
        return True

    def _make(self) -> tuple[ColumnPlan, Iterable[Version]]:
        """A plan of the registry's versions, and these versions, newest first."""
        raise NotImplementedError

    def _first_subject(self) -> str | None:
        """A subject in whose context guids have ids; None for the default context."""
        raise NotImplementedError


@dataclass(slots=True)
class Follower(RegistryFollower):
    """A plan that follows the versions of a subject.

    Attributes:
        registry, subject, topic, reader_schema, fields, is_key: As in `from_confluent_avro`.
        ids: Schema ids in addition to the subject's versions.
        schema_type: AVRO, JSON, PROTOBUF, or AUTO for the type of the subject's latest version.
        message: As in `from_confluent_protobuf`.
        validate: Whether to validate each JSON Schema message.
        reader_version: The version that records are read as, instead of the latest.
        rules: As in `from_confluent_avro`.
    """

    subject: str | None = None
    topic: str | None = None
    reader_schema: str | None = None
    fields: Sequence[str] | None = None
    is_key: bool = False
    ids: tuple[int, ...] = ()
    schema_type: str = AVRO
    message: str | None = None
    validate: bool = False
    reader_version: int | None = None
    rules: str = APPLY

    def _make(self) -> tuple[ColumnPlan, Iterable[Version]]:
        schema_type = self._type()
        selection = select_versions(
            registry=self.registry,
            schema_type=schema_type,
            subject=self.subject,
            topic=self.topic,
            ids=self.ids,
            reader_schema=self.reader_schema,
            is_key=self.is_key,
            reader_version=self.reader_version,
            rules=self.rules,
        )
        selection = replace(selection, other_guids=dict(self._other_guids))
        return _PLANS[schema_type](self, selection), selection.versions

    def _first_subject(self) -> str | None:
        if self.subject is None and self.topic is None:
            return None
        return subject_of(subject=self.subject, topic=self.topic, is_key=self.is_key)[0]

    def _type(self) -> str:
        if self.schema_type != AUTO:
            return self.schema_type
        subject, why = subject_of(subject=self.subject, topic=self.topic, is_key=self.is_key)
        return version_type(client_of(self.registry), subject, why=why)


#: Schema type -> the function that makes a follower's plan.
_PLANS: Mapping[str, Callable[[Follower, Selection], ColumnPlan]] = {
    AVRO: lambda follower, selection: plan_decoding(selection, follower.fields),
    JSON: lambda follower, selection: plan_json(selection, validate=follower.validate),
    PROTOBUF: lambda follower, selection: plan_protobuf(selection, follower.message),
}


@dataclass(slots=True)
class RecordsFollower(RegistryFollower):
    """A plan that follows several Avro record types, which become a struct with a field for each type.

    Attributes:
        registry: As in `from_confluent_avro`.
        subjects: The subjects whose versions are read; if they share a record's name, newest last.
        topics: Without subjects: the topics, whose subjects are `TOPIC-value` and `TOPIC-RECORD`.
        rules: As in `from_confluent_avro`.
    """

    subjects: Sequence[str] = ()
    topics: Sequence[str] = ()
    rules: str = APPLY

    def _make(self) -> tuple[ColumnPlan, Iterable[Version]]:
        client = client_of(self.registry)
        subjects = list(self.subjects) or subjects_of_topics(client, self.topics)
        versions = newest_first([version for subject in subjects for version in versions_of(client, subject)])
        return RecordsPlan.of(versions, subjects, self._other_guids, rules=self.rules), versions

    def _first_subject(self) -> str | None:
        return next(iter(self.subjects), None)
