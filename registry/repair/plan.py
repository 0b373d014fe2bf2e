"""The plan of a repair: findings in a log's records, and the records that are appended for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from registry.decide import Decision
from registry.log.port import LogEntry, Record
from registry.repair import keys, versions
from registry.repair.facts import LogFacts
from registry.repair.finding import Finding
from registry.state.records import Key
from registry.state.view import View

#: The most records of one plan; a log appends them in one transaction.
MOST_RECORDS = 5_000


@dataclass(frozen=True, slots=True)
class Repair:
    """The finder and the repair of faults of one code.

    Attributes:
        find: Finds them in the facts of a log and the state that it has.
        records: Returns the records that repair one of them; none if nothing can be appended for it.
        by_name_only: Whether it is repaired only if its code is named, because readers may lose something.
    """

    find: Callable[[LogFacts, View], Iterator[Finding]]
    records: Callable[[LogFacts, View, Finding, int], list[Record]]
    by_name_only: bool = False


#: Code -> its repair, in the order in which they are carried out.
REPAIRS: Mapping[str, Repair] = {
    "KEY_FORMS": Repair(keys.find_key_forms, keys.settle_key),
    "ORPHAN_TOMBSTONE": Repair(keys.find_orphan_tombstones, keys.settle_key),
    "MARK_LOW": Repair(versions.find_low_marks, versions.write_mark),
    "DELETED_LIVE": Repair(versions.find_deleted_live, versions.rewrite_version),
    "UNREADABLE": Repair(keys.find_unreadable, keys.settle_record, by_name_only=True),
    "FOREIGN_KEYS": Repair(keys.find_foreign_keys, keys.settle_key, by_name_only=True),
}


@dataclass(frozen=True, slots=True)
class Step:
    """A finding, and the records that repair it."""

    finding: Finding
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The records that a repair appends.

    Attributes:
        steps: The findings with their records, in order.
        left: How many findings are left for a further repair, because this one has its most records.
    """

    steps: tuple[Step, ...] = ()
    left: int = 0

    @property
    def records(self) -> tuple[Record, ...]:
        """All records, in order."""
        return tuple(record for step in self.steps for record in step.records)


def plan(facts: LogFacts, view: View, codes: Collection[str], now: int) -> Plan:
    """Plan the repair of all findings of some codes.

    Args:
        facts: The facts of the log.
        view: The state that the log has; it may be ahead of the facts by records of this node.
        codes: Codes of `REPAIRS`.
        now: The time in ms since the epoch.
    """
    steps: list[Step] = []
    count = left = 0
    settled: set[Key] = set()
    marks: set[tuple[bytes, bytes | None]] = set()
    for code, repair in REPAIRS.items():
        for finding in repair.find(facts, view) if code in codes else ():
            # Two faults of a key have one repair.
            if finding.key in settled:
                continue
            # Deletions of several versions need the same mark.
            records = [one for one in repair.records(facts, view, finding, now) if (one.key, one.value) not in marks]
            if not records:
                continue
            if count and count + len(records) > MOST_RECORDS:
                left += 1
                continue
            if finding.key is not None:
                settled.add(finding.key)
            marks |= {(one.key, one.value) for one in records if one.value is not None}
            count += len(records)
            steps.append(Step(finding, tuple(records)))
    return Plan(tuple(steps), left)


def decide_repair(
    view: View, now: int, *, entries: Callable[[], Iterable[LogEntry]], codes: Collection[str], dry_run: bool = False
) -> Decision[Plan]:
    """Plan a repair from the log as it is when the committer decides, so that nothing changes before it is written.

    Args:
        view: The state with all decisions before this one.
        now: The time in ms since the epoch.
        entries: Reads the log from its beginning. It may lack the decisions before this one in the same batch, which
            have the bytes of keys that the log has.
        codes: Codes of `REPAIRS`.
        dry_run: Append nothing.

    Raises:
        LogError: The log can't be read.
    """
    planned = plan(LogFacts.of_entries(entries()), view, codes, now)
    return Decision(planned, () if dry_run else planned.records)
