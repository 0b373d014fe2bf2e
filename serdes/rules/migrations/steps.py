"""The migration between two versions of a subject: the rules of the versions between, in their order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from serdes.client.endpoints.cached import Endpoints
from serdes.client.flow import Flow
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import SchemaNotFound, SubjectNotFound, VersionNotFound
from serdes.rules.context import DOWNGRADE, MIGRATION_RULES, UPGRADE, Ruled
from serdes.rules.counts import RuleCounts
from serdes.rules.plan import Plan, rules_plan
from serdes.rules.settings import RuleSettings


@dataclass(frozen=True, slots=True)
class Migration:
    """The migration rules between two versions of a subject.

    Attributes:
        plans: The plans of the versions on the way that have rules, in order.
        source: The writer's schema.
        target: The reader's schema.
        mode: UPGRADE or DOWNGRADE.
    """

    plans: tuple[Plan, ...]
    source: Ruled
    target: Ruled
    mode: str


def migration(
    endpoints: Endpoints,
    writer: SchemaInfo,
    reader: RegisteredSchema,
    settings: RuleSettings,
    counts: RuleCounts | None = None,
) -> Flow[Migration | None]:
    """The migration from the writer's schema to a version of a subject; None if no rules are on the way.

    A version that was deleted counts; one that was deleted for good is a hole, which is skipped.

    Raises:
        SchemaNotFound: The reader's version has migration rules, but the writer's schema is no version of the subject.
        RegistryError: The registry refuses a request.
    """
    if writer.schema == reader.schema and writer.rule_set == reader.rule_set:
        return None
    number = yield from _version_of(endpoints, writer, reader.subject)
    if number is None:
        _require_no_rules(reader, settings)
        return None
    if number == reader.version:
        return None
    low, high = sorted((number, reader.version))
    versions = yield from _between(endpoints, reader, low, high)
    mode = UPGRADE if number < reader.version else DOWNGRADE
    pairs = list(pairwise(versions))
    plans = []
    for below, above in pairs if mode == UPGRADE else reversed(pairs):
        plan = rules_plan(
            _ruled(above),
            mode,
            settings,
            phase=MIGRATION_RULES,
            counts=counts,
            source=_ruled(below if mode == UPGRADE else above),
        )
        if plan:
            plans.append(plan)
    if not plans:
        return None
    source, target = (versions[0], versions[-1]) if mode == UPGRADE else (versions[-1], versions[0])
    return Migration(tuple(plans), _ruled(source), _ruled(target), mode)


def _version_of(endpoints: Endpoints, writer: SchemaInfo, subject: str) -> Flow[int | None]:
    """The newest version with the writer's schema, deleted ones included; None if there is none."""
    if writer.id is not None:
        try:
            held = yield from endpoints.versions_of(writer.id, subject, deleted=True)
        except (SchemaNotFound, SubjectNotFound):
            held = []
        numbers = [row.version for row in held if row.subject == subject]
        if numbers:
            return max(numbers)
    try:
        return (yield from endpoints.lookup(subject, writer.schema, deleted=True)).version
    except (SchemaNotFound, SubjectNotFound):
        return None


def _between(endpoints: Endpoints, reader: RegisteredSchema, low: int, high: int) -> Flow[list[RegisteredSchema]]:
    """The versions from `low` to `high` that exist, deleted ones included."""
    subject = reader.subject
    existing = yield from endpoints.versions(subject, deleted=True)
    versions = []
    for number in sorted({low, high, *(number for number in existing if low < number < high)}):
        if number == reader.version:
            versions.append(reader)
            continue
        try:
            versions.append((yield from endpoints.version(subject, number, deleted=True)))
        except VersionNotFound:
            # It was deleted for good since the list was read.
            continue
    return versions


def _require_no_rules(reader: RegisteredSchema, settings: RuleSettings) -> None:
    for mode in (UPGRADE, DOWNGRADE):
        if rules_plan(_ruled(reader), mode, settings, phase=MIGRATION_RULES):
            raise SchemaNotFound(
                404,
                40403,
                f"Subject '{reader.subject}' has migration rules, but the message's schema is none of its versions",
            )


def _ruled(version: RegisteredSchema) -> Ruled:
    return Ruled(
        f"version {version.version} of subject {version.subject}",
        version.schema,
        version.rule_set,
        version.metadata,
        subject=version.subject,
        schema_id=version.id,
        version=version.version,
    )
