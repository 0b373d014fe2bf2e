"""Repairs without a registry: the records are appended by this process, and nodes that run are fenced."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Protocol

from magicbyte.kit.failure import Failure
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.fsck.evidence import QuietView
from magicbyte.operations.sources.log_source import DatabaseSource, TopicSource
from magicbyte.operations.sources.port import RawSource
from registry.cluster.lead.takeover import amends
from registry.log.kafka import KafkaLog
from registry.log.port import BEGINNING, LogEntry, LogError, NotLeader, Offset, Record, WriteConflict
from registry.log.sql import SqlLog
from registry.repair.facts import LogFacts
from registry.repair.plan import plan
from registry.state.view import View

#: How often a repair is planned again because another program has written to the log.
_ATTEMPTS = 20
_EPOCH = 1
#: The size of batch and record headers, as a registry reckons with it.
_OVERHEAD_BYTES = 512


class _Writer(Protocol):
    """A log that this process writes."""

    def read(self) -> Iterable[LogEntry]:
        """All committed entries."""

    def first_records(self, view: View) -> list[Record]:
        """The records to append first, and once; may be empty."""

    def append(self, records: Sequence[Record], after: Offset) -> Offset:
        """Append records after the last entry that was read."""

    def close(self) -> None:
        """Close the connections."""


def repair_offline(source: RawSource, codes: Iterable[str], group: str) -> int:
    """Repair the log of a source, and return how many records were appended.

    On a topic, this takes the transactional id of the registry's nodes: Kafka then refuses their writes until one of
    them takes over anew. As a leader does, it first makes amends for aborted transactions.

    Args:
        source: A topic or a database.
        codes: Codes of `REPAIRS`.
        group: The group of the registry's nodes (`schema.registry.group.id`).

    Raises:
        Failure: The source is a file, or a registry writes the log meanwhile.
        Unreachable: The log cannot be read or written.
    """
    try:
        writer = _open(source, group)
        try:
            return _repair(writer, frozenset(codes))
        finally:
            writer.close()
    except (NotLeader, WriteConflict) as error:
        raise Failure(
            f"another program writes {source.name}: {error}. Stop the registries on it, or repair it by its leader "
            "(--schema-registry-url)"
        ) from None
    except LogError as error:
        raise Unreachable(f"{source.name}: {error}") from None


def _open(source: RawSource, group: str) -> _Writer:
    if isinstance(source, TopicSource):
        return _TopicWriter(source, group)
    if isinstance(source, DatabaseSource):
        return _DatabaseWriter(source.sql_log)
    raise Failure(f"{source.name} is no log that can be written: --offline needs kafka:, sqlite: or postgresql:")


def _repair(writer: _Writer, codes: frozenset[str]) -> int:
    """Plan and append until nothing is left; each plan is made from the log as it is."""
    written = conflicts = 0
    while True:
        view, facts = QuietView(), LogFacts()

        def add(entry: LogEntry, view: View = view, facts: LogFacts = facts) -> None:
            view.apply(entry)
            facts.add(entry)

        for entry in writer.read():
            add(entry)
        after = view.offset
        first = writer.first_records(view)
        for index, record in enumerate(first, 1):
            add(LogEntry(after + index, record.key, record.value, record.timestamp))
        planned = plan(facts, view, codes, _now())
        records = [*first, *planned.records]
        if not records:
            return written
        try:
            writer.append(records, after)
        except WriteConflict:
            conflicts += 1
            if conflicts == _ATTEMPTS:
                raise
            continue
        written += len(records)
        if not planned.left:
            return written


class _TopicWriter:
    """The schemas topic, by the transactional id of the registry's nodes."""

    def __init__(self, source: TopicSource, group: str) -> None:
        self._log = KafkaLog(source.client, source.topic, f"magicbyte-{group}")
        self._log.max_record_bytes = int(source.topic_configs()["max.message.bytes"]) - _OVERHEAD_BYTES
        self._is_settled = False
        self._log.open_writer(_EPOCH)

    def read(self) -> Iterable[LogEntry]:
        """All committed entries.

        Raises:
            Failure: A transaction of another program is open.
        """
        offset = self._log.open_transaction()
        if offset is not None:
            raise Failure(
                f"{self._log.topic} has an open transaction of another program that began at offset {offset}: wait for "
                "its end, or abort it with kafka-transactions.sh"
            )
        return self._log.read(BEGINNING)

    def first_records(self, view: View) -> list[Record]:
        """The amends for aborted transactions, with the mark of a leader."""
        if self._is_settled:
            return []
        return amends(view, self._log.aborted_since(view.settled_offset), _now())

    def append(self, records: Sequence[Record], after: Offset) -> Offset:
        """Append records in one transaction."""
        if self._is_settled:
            return self._log.append(records, after, _EPOCH)
        last = self._log.settle(records, after, _EPOCH)
        self._is_settled = True
        return last

    def close(self) -> None:
        """Close the connections to Kafka."""
        self._log.close()


class _DatabaseWriter:
    """The table of a database; the source closes it."""

    def __init__(self, log: SqlLog) -> None:
        self._log = log

    def read(self) -> Iterable[LogEntry]:
        """All entries."""
        return self._log.read(BEGINNING)

    def first_records(self, _view: View) -> list[Record]:
        """Nothing: a database has no aborted records."""
        return []

    def append(self, records: Sequence[Record], after: Offset) -> Offset:
        """Append records in one transaction."""
        return self._log.append(records, after)

    def close(self) -> None:
        """Do nothing."""


def _now() -> int:
    return time.time_ns() // 1_000_000
