"""The outcome of a preflight, as lines for people and as JSON data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from magicbyte.kit.inert import inert_line
from magicbyte.kit.plural import plural
from magicbyte.operations.migration.finding import Severity
from magicbyte.operations.migration.plan import Step
from magicbyte.operations.migration.preflight import Outcome

_HEADS = {Severity.STOP: "stops the migration", Severity.WARNING: "warnings", Severity.NOTE: "notes"}


def to_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON data."""
    server = outcome.server
    return {
        "ready": outcome.is_ready,
        "origin": {
            "name": outcome.origin,
            "vendor": server.vendor,
            "version": server.version,
            "evidence": server.evidence,
            **outcome.counts,
        },
        "target": None
        if outcome.target is None
        else {"vendor": outcome.target.vendor, "version": outcome.target.version},
        "findings": [finding.to_json() for finding in outcome.findings],
        "plan": {
            "way": outcome.plan.way,
            "steps": [step.to_json() for step in outcome.plan.steps],
            "rollback": [step.to_json() for step in outcome.plan.rollback],
        },
    }


def to_lines(outcome: Outcome) -> Iterator[str]:
    """The outcome for people: the origin, the findings by severity, the plan."""
    counts = ", ".join(plural(count, name.removesuffix("s")) for name, count in outcome.counts.items())
    yield inert_line(f"{outcome.origin}: {outcome.server.title} ({outcome.server.evidence})")
    yield f"  {counts}"
    if outcome.target is not None:
        yield f"target: {outcome.target.title}"
    for severity, head in _HEADS.items():
        found = [finding for finding in outcome.findings if finding.weight is severity]
        if not found:
            continue
        yield ""
        yield f"{head}:"
        told = None
        for place, finding in enumerate(found):
            yield f"  {finding.line()}"
            told = finding.advice
            # The remedy of several in a row is told once.
            if place + 1 == len(found) or found[place + 1].advice != told:
                yield inert_line(f"    -> {told}")
    yield ""
    yield f"plan: {outcome.plan.way}"
    yield from _steps(outcome.plan.steps)
    yield ""
    yield "the way back:"
    yield from _steps(outcome.plan.rollback)
    yield ""
    stops = sum(finding.weight is Severity.STOP for finding in outcome.findings)
    yield "ready" if not stops else f"not ready: {plural(stops, 'finding')} to settle first"


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        yield f"  {number}. {step.text}"
        for command in step.commands:
            yield inert_line(f"       {command}")
