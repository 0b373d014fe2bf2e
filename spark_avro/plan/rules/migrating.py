"""The migrations between the versions of a subject and the version that they are read as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from serdes.rules.context import DOWNGRADE, UPGRADE
from spark_avro.plan.rules.listed import check_executors
from spark_avro.plan.rules.workers.migrated_messages import MigrationRules, MigrationStep
from spark_avro.registry import Version


def migrations(versions: Sequence[Version], reader: Version) -> Mapping[int, MigrationRules]:
    """The migrations of records by the ids of their schemas; none for versions without rules on the way.

    Args:
        versions: The versions of the reader's subject, and perhaps others.
        reader: The version that records are read as.

    Raises:
        PlanError: A rule cannot be carried out.
    """
    if reader.number is None:
        return {}
    own = [version for version in versions if version.number is not None and _subject(version) == _subject(reader)]
    by_number = {version.number or 0: version for version in [*own, reader]}
    tasks = {}
    for schema_id, number in _newest_numbers(own).items():
        if schema_id == reader.id or number == reader.number:
            continue
        low, high = sorted((number, reader.number))
        numbers = sorted(key for key in by_number if low <= key <= high)
        mode = UPGRADE if number < reader.number else DOWNGRADE
        if mode == DOWNGRADE:
            numbers.reverse()
        steps = []
        for one, other in pairwise(numbers):
            source, target = by_number[one], by_number[other]
            step = MigrationStep((target if mode == UPGRADE else source).ruled, source.ruled)
            plan = step.plan(mode)
            if plan:
                check_executors(plan)
                steps.append(step)
        if steps:
            tasks[schema_id] = MigrationRules(by_number[number].sent, reader.sent, reader.id, mode, tuple(steps))
    return tasks


def with_foreign_refused(versions: Sequence[Version], reader: Version) -> list[Version]:
    """The versions, with those refused that are none of a subject with migration rules."""
    if reader.number is None or not _has_migrations(reader):
        return list(versions)
    problem = f"subject {_subject(reader)} has migration rules, but the record's schema is none of its versions"
    return [
        version
        if version.id == reader.id or _subject(version) == _subject(reader) or version.refusal is not None
        else replace(version, refusal=problem)
        for version in versions
    ]


def _has_migrations(reader: Version) -> bool:
    return any(MigrationStep(reader.ruled, reader.ruled).plan(mode) for mode in (UPGRADE, DOWNGRADE))


def _newest_numbers(versions: Sequence[Version]) -> dict[int, int]:
    """The newest number of each schema: one may have several."""
    numbers: dict[int, int] = {}
    for version in versions:
        assert version.number is not None
        numbers[version.id] = max(version.number, numbers.get(version.id, 0))
    return numbers


def _subject(version: Version) -> str | None:
    return version.ruled.subject
