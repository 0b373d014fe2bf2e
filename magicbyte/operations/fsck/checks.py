"""The checks as a table: code, what it finds, how bad that is, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from magicbyte.operations.fsck import schemas, topic
from magicbyte.operations.fsck.evidence import Evidence
from registry.repair.finding import Finding, Severity
from registry.repair.plan import REPAIRS

_Find = Callable[[Evidence], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Check:
    """A check.

    Attributes:
        finds: What it finds, as a noun.
        severity: How bad it is, unless a finding says otherwise.
        find: Yields the findings; nothing if the source lacks what the check needs.
        remedy: What to do, unless a finding says otherwise.
        repair: What `--repair` does; empty if it does nothing.
        of_url: Whether the state alone suffices, so that a registry's URL can be checked.
        by_name_only: Whether `--repair` does it only if the code is named.
    """

    finds: str
    severity: Severity
    find: _Find
    remedy: str
    repair: str = ""
    of_url: bool = False
    by_name_only: bool = False


def _in_log(code: str) -> _Find:
    """The check of a code that the registry finds itself, too."""

    def find(evidence: Evidence) -> Iterator[Finding]:
        return iter(()) if evidence.facts is None else REPAIRS[code].find(evidence.facts, evidence.view)

    return find


CHECKS: Mapping[str, Check] = {
    "KEY_FORMS": Check(
        "a logical key under several byte forms, of which a tombstone removes only one: what was deleted comes back "
        "after a restart",
        Severity.ERROR,
        _in_log("KEY_FORMS"),
        "let one server alone write the topic, then run `magicbyte fsck --repair KEY_FORMS`",
        "tombstones with the very bytes on the log; if the key lives, its value is written once more under the bytes "
        "that servers write",
    ),
    "ORPHAN_TOMBSTONE": Check(
        "a tombstone whose bytes no record has, behind a record of the same logical key: what was deleted comes back "
        "when compaction drops the tombstone",
        Severity.ERROR,
        _in_log("ORPHAN_TOMBSTONE"),
        "run `magicbyte fsck --repair ORPHAN_TOMBSTONE` before compaction drops the tombstone",
        "as for KEY_FORMS",
    ),
    "ID_TWO_CONTENTS": Check(
        "an id that stands for two schemas in one context",
        Severity.ERROR,
        schemas.find_ids_with_two_contents,
        "find out with `--topics` which topics use the id, keep the schema that wrote their records, and delete the "
        "versions of the other for good",
        of_url=True,
    ),
    "VERSION_REPOINTED": Check(
        "a version whose id was changed by a later record",
        Severity.WARNING,
        schemas.find_repointed_versions,
        "register the former schema again under its id, in mode IMPORT, as a version of its own",
    ),
    "DANGLING_REFERENCE": Check(
        "a reference to a version that is gone",
        Severity.ERROR,
        schemas.find_dangling_references,
        "bring the version back from a backup under its number and id, or delete the versions that refer to it",
        of_url=True,
    ),
    "REFERENCE_CYCLE": Check(
        "references that lead in a circle",
        Severity.ERROR,
        schemas.find_reference_cycles,
        "no reader can resolve them: delete one of the versions, and register it without that reference",
        of_url=True,
    ),
    "UNREADABLE": Check(
        "a record that no server reads: no key of a known type, or a value that lacks something",
        Severity.WARNING,
        _in_log("UNREADABLE"),
        "look at the record in a raw backup; if nothing needs it, run `magicbyte fsck --repair UNREADABLE`",
        "a tombstone; if the key had a value before that can be read, that value",
        by_name_only=True,
    ),
    "FOREIGN_KEYS": Check(
        "keys with the fields `seq` and `node`, as Redpanda writes them: no two records have the same bytes",
        Severity.WARNING,
        _in_log("FOREIGN_KEYS"),
        "if Redpanda serves the topic no more, run `magicbyte fsck --repair FOREIGN_KEYS`",
        "as for KEY_FORMS",
        by_name_only=True,
    ),
    "ABORTED_TAIL": Check(
        "records of aborted transactions behind the last mark of a leader, as the last of their keys: readers that "
        "ignore transactions believe them",
        Severity.WARNING,
        topic.find_aborted_tail,
        "start a Magicbyte registry on the topic, whose leader writes the committed values again; without one, run "
        "`magicbyte fsck --repair ABORTED_TAIL --offline`",
        "with `--offline`, what a leader does when it takes over: the committed values are written again; else the "
        "leader does it at its next start",
    ),
    "MARK_LOW": Check(
        "an id above all that compaction leaves in the log, so that it would be given again",
        Severity.ERROR,
        _in_log("MARK_LOW"),
        "run `magicbyte fsck --repair MARK_LOW` before compaction removes the records",
        "the mark of the highest id of the context",
    ),
    "TOPIC": Check(
        "settings of the topic by which schemas are lost or refused",
        Severity.ERROR,
        topic.find_topic_faults,
        "run the printed line, or `magicbyte fsck --repair TOPIC`",
        "the settings, by Kafka's admin client; not the number of partitions or replicas",
        by_name_only=True,
    ),
    "DELETED_LIVE": Check(
        "a live version before a DELETE_SUBJECT of another server that did not know it",
        Severity.WARNING,
        _in_log("DELETED_LIVE"),
        "let one server alone write the topic, then run `magicbyte fsck --repair DELETED_LIVE`, or delete the version",
        "the version is written again behind the deletion",
    ),
    "GARBAGE": Check(
        "so many superseded records, or deletions of subjects that are gone, that starts take longer",
        Severity.NOTE,
        topic.find_garbage,
        "compaction removes superseded records: lower min.cleanable.dirty.ratio or segment.ms of the topic for a "
        "while; a restored logical backup has no records of what is gone",
    ),
}


def severity_of(finding: Finding) -> Severity:
    """Return the severity of a finding."""
    return finding.severity or CHECKS[finding.code].severity


def remedy_of(finding: Finding) -> str:
    """Return the remedy for a finding."""
    return finding.remedy or CHECKS[finding.code].remedy


def run_checks(evidence: Evidence, ignored: frozenset[str] = frozenset()) -> list[Finding]:
    """The findings of all checks but the ignored ones, in the order of the table."""
    return [finding for code, check in CHECKS.items() if code not in ignored for finding in check.find(evidence)]
