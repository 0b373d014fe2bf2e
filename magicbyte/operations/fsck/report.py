"""Findings and repairs as text for people and as JSON data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from magicbyte.kit.inert import inert_line
from magicbyte.kit.plural import plural
from magicbyte.operations.fsck.checks import remedy_of, severity_of
from magicbyte.operations.fsck.evidence import Evidence
from magicbyte.operations.fsck.repairing import Repairs
from registry.repair.finding import Finding, Severity, shown_bytes

#: The most findings of a code in the text; JSON has all.
_MOST_OF_CODE = 20


def counts(findings: Sequence[Finding]) -> dict[str, int]:
    """Count the findings of each severity, worst first."""
    counted = Counter(severity_of(finding) for finding in findings)
    return {severity.value: counted[severity] for severity in Severity}


def is_clean(findings: Sequence[Finding]) -> bool:
    """Whether there is no error and no warning; notes are advice."""
    return all(severity_of(finding) is Severity.NOTE for finding in findings)


def finding_to_json(finding: Finding) -> dict[str, Any]:
    """A finding as JSON data."""
    return {
        "code": finding.code,
        "severity": severity_of(finding).value,
        "text": finding.sentence,
        "remedy": remedy_of(finding),
        **finding.place(),
    }


def to_json(evidence: Evidence, findings: Sequence[Finding]) -> dict[str, Any]:
    """The findings in a source as JSON data."""
    return {
        "source": evidence.source,
        "offset": evidence.offset,
        "records": evidence.facts.records if evidence.facts else None,
        "counts": counts(findings),
        "findings": [finding_to_json(finding) for finding in findings],
        "notes": list(evidence.notes),
    }


def to_lines(evidence: Evidence, findings: Sequence[Finding]) -> Iterator[str]:
    """The findings in a source as lines, with the remedies after them."""
    shown: Counter[str] = Counter()
    remedies: dict[tuple[str, str], None] = {}
    for finding in findings:
        shown[finding.code] += 1
        remedies[finding.code, remedy_of(finding)] = None
        if shown[finding.code] <= _MOST_OF_CODE:
            offsets = ", ".join(map(str, finding.offsets[:_MOST_OF_CODE]))
            place = f" (offset {offsets})" if offsets else ""
            yield inert_line(f"{severity_of(finding).value:7} {finding.code}{place}: {finding.sentence}")
            # The keys are what differs, and cannot be told from the sentence.
            yield from (f"        key {shown_bytes(key)}" for key in finding.keys[:_MOST_OF_CODE])
    for code, count in shown.items():
        if count > _MOST_OF_CODE:
            yield f"{code}: {count - _MOST_OF_CODE:,} more; --output json lists all"
    if remedies:
        yield ""
    yield from (inert_line(f"{code}: {remedy}") for code, remedy in remedies)
    yield from (f"note: {note}" for note in evidence.notes)
    yield summary(evidence, findings)


def summary(evidence: Evidence, findings: Sequence[Finding]) -> str:
    """The counts in a sentence."""
    what = ", ".join(plural(count, name) for name, count in counts(findings).items() if count) or "nothing found"
    extent = f", {plural(evidence.facts.records, 'record')} up to offset {evidence.offset}" if evidence.facts else ""
    return inert_line(f"{what} in {evidence.source}{extent}")


def repairs_to_json(repairs: Repairs) -> dict[str, Any]:
    """Return the changes that a repair would make, as JSON data."""
    return {
        "codes": sorted(repairs.codes),
        "records": [
            {
                "code": step.finding.code,
                "offsets": list(step.finding.offsets),
                "key": shown_bytes(record.key),
                "valueBytes": None if record.value is None else len(record.value),
            }
            for step in repairs.log.steps
            for record in step.records
        ],
        "left": repairs.log.left,
        "topicConfigs": repairs.configs,
        "abortedKeys": len(repairs.aborted),
    }


def repairs_to_lines(repairs: Repairs, *, offline: bool) -> Iterator[str]:
    """Yield the changes that a repair would make, as lines."""
    for step in repairs.log.steps:
        yield f"{step.finding.code}: {inert_line(step.finding.sentence)}"
        for record in step.records:
            what = "tombstone" if record.value is None else f"value of {len(record.value):,} bytes"
            yield f"    {what:24} key {shown_bytes(record.key)}"
    for name, value in repairs.configs.items():
        yield f"TOPIC: set {name}={value}"
    if repairs.aborted:
        how = (
            "the committed values are written again"
            if offline
            else "the leader of a registry writes the committed values again when it takes over; restart it, or use "
            "--offline"
        )
        yield f"ABORTED_TAIL: {plural(len(repairs.aborted), 'key')}: {how}"
    if repairs.log.left:
        yield f"{plural(repairs.log.left, 'further fault')} in a second step"
    if repairs.is_empty:
        yield "nothing to repair"
