"""The evidence for the checks: the records of a log, the state that they make, and the topic around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from magicbyte.operations.sources.log_source import TopicSource
from magicbyte.operations.sources.port import RawRecord, RawSource, Source
from magicbyte.operations.sources.url import UrlSource
from magicbyte.operations.sources.wholeness import require_whole
from magicbyte.operations.state import State
from registry.log.port import BEGINNING, LogEntry
from registry.repair.facts import LogFacts
from registry.state import records
from registry.state.records import Key
from registry.state.view import View


@dataclass(frozen=True, slots=True)
class Topic:
    """The Kafka topic of a log, or what a file says of it.

    Attributes:
        name: Its name.
        servers: The bootstrap servers; empty if a file has its settings.
        configs: Its settings by Kafka's names, with `partitions` and `replication.factor`.
        brokers: How many brokers the cluster has; None if a file has the settings.
    """

    name: str
    servers: str
    configs: Mapping[str, str]
    brokers: int | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The known facts of a source.

    Attributes:
        source: The source's name.
        view: The state, as a registry builds it.
        offset: The offset of the last record; `BEGINNING` for none or if the source has no log.
        facts: The facts of the log; None for a source without one.
        topic: The topic; None if the log is in none, or a file does not have its settings.
        aborted: The records of aborted transactions behind the last mark of a leader.
        users: Schema id -> the topics and counts of records that have it, in words; for ID_TWO_CONTENTS.
        notes: What could not be checked, each a sentence.
    """

    source: str
    view: View
    offset: int = BEGINNING
    facts: LogFacts | None = None
    topic: Topic | None = None
    aborted: Sequence[RawRecord] = ()
    users: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class QuietView(View):
    """A view that logs nothing: the checks tell what is wrong with records."""

    def _count(self, reason: str, _entry: LogEntry, _text: str) -> None:
        self.passed_over[reason] += 1

    def _warn_of_lost_id(self, _replaced: object) -> None:
        """Do nothing: VERSION_REPOINTED tells it."""


def gather(source: Source, *, partial: bool = False) -> Evidence:
    """Read a source as a whole.

    Args:
        source: The source.
        partial: Accept a source that does not show everything.

    Raises:
        Withheld: It does not show everything: what refers to a hidden schema would look wrong.
        Unreachable, Unreadable, Failure: As for `Source.read`.
    """
    if not isinstance(source, RawSource):
        reading = source.read()
        require_whole(source.name, reading.withheld, "nothing was checked", partial=partial)
        what = "a registry's URL shows" if isinstance(source, UrlSource) else "this file has"
        note = f"{what} the state alone: its log can be checked at kafka:, sqlite: or postgresql:"
        offset = reading.origin.offset or BEGINNING
        return Evidence(source.name, view_of(reading.state), offset, notes=(*reading.remarks, note))
    topic: Topic | None = None
    if isinstance(source, TopicSource):
        topic = Topic(source.topic, source.servers, source.topic_configs(), source.broker_count())
    elif configs := source.topic_configs():
        topic = Topic(f"the topic in {source.name}", "", configs, None)
    view, facts = QuietView(), LogFacts()
    for record in source.records():
        view.apply(record.entry)
        facts.add(record.entry)
    aborted = source.aborted_after(view.settled_offset) if isinstance(source, TopicSource) else ()
    return Evidence(source.name, view, view.offset, facts, topic, aborted, notes=source.notes())


def view_of(state: State) -> View:
    """The view of a registry that has a state."""
    view = QuietView()
    for version in state.versions.values():
        key = records.encode_key(Key(records.SCHEMA, version.subject, version.number))
        view.apply_record(records.version_record(key, version))
    return view
