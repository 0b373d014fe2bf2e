"""The migration between two versions of a subject: the rules of the versions between, in their order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from serdes.client.endpoints.cached import Endpoints
from serdes.client.flow import Flow
from serdes.client.models import RegisteredSchema
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
    """

    plans: tuple[Plan, ...]
    source: Ruled
    target: Ruled


def migration(
    endpoints: Endpoints,
    writer: Ruled,
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
    if _is_same(writer, reader):
        return None
    number = yield from _version_of(endpoints, writer, reader.subject)
    if number is None:
        yield from _require_no_rules(endpoints, reader, settings)
        return None
    if number == reader.version:
        return None
    mode = UPGRADE if number < reader.version else DOWNGRADE
    versions = yield from _between(endpoints, reader, *sorted((number, reader.version)))
    if mode == DOWNGRADE:
        versions.reverse()
    plans = []
    for source, target in pairwise(versions):
        # The rules of a step up are those of its target, and the rules of a step down those of its source.
        ruled = target if mode == UPGRADE else source
        plan = rules_plan(ruled, mode, settings, phase=MIGRATION_RULES, counts=counts, source=source)
        if plan:
            plans.append(plan)
    return Migration(tuple(plans), versions[0], versions[-1]) if plans else None


def _is_same(writer: Ruled, reader: RegisteredSchema) -> bool:
    if writer.schema_id is not None:
        return writer.schema_id == reader.id
    return (writer.schema, writer.rule_set, writer.metadata) == (reader.schema, reader.rule_set, reader.metadata)


def _version_of(endpoints: Endpoints, writer: Ruled, subject: str) -> Flow[int | None]:
    """The newest version with the writer's schema, deleted ones included; None if there is none."""
    if writer.schema_id is not None:
        try:
            held = yield from endpoints.versions_of(writer.schema_id, subject, deleted=True)
        except (SchemaNotFound, SubjectNotFound):
            held = []
        numbers = [row.version for row in held if row.subject == subject]
        if numbers:
            return max(numbers)
    try:
        return (yield from endpoints.lookup(subject, writer.schema, deleted=True)).version
    except (SchemaNotFound, SubjectNotFound):
        return None


def _between(endpoints: Endpoints, reader: RegisteredSchema, low: int, high: int) -> Flow[list[Ruled]]:
    """The versions from `low` to `high` that exist, deleted ones included."""
    subject = reader.subject
    existing = yield from endpoints.versions(subject, deleted=True)
    versions = []
    for number in sorted({low, high, *(number for number in existing if low < number < high)}):
        if number == reader.version:
            version = reader
        else:
            try:
                version = yield from endpoints.version(subject, number, deleted=True)
            except VersionNotFound:
                # It was deleted for good since the list was read.
                continue
        versions.append((yield from _ruled(endpoints, version)))
    return versions


def _require_no_rules(endpoints: Endpoints, reader: RegisteredSchema, settings: RuleSettings) -> Flow[None]:
    ruled = yield from _ruled(endpoints, reader)
    if any(rules_plan(ruled, mode, settings, phase=MIGRATION_RULES) for mode in (UPGRADE, DOWNGRADE)):
        problem = "has migration rules, but the message's schema is none of its versions"
        raise SchemaNotFound(404, 40403, f"Subject '{reader.subject}' {problem}")


def _ruled(endpoints: Endpoints, version: RegisteredSchema) -> Flow[Ruled]:
    dependencies = yield from endpoints.dependencies(version.schema, version.subject)
    return Ruled.of(f"version {version.version} of subject {version.subject}", version, dependencies)
