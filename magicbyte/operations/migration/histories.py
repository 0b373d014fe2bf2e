"""Every schema parsed and every history checked again, by the rules of this project."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from compat.engine import Previous, check
from compat.formats import parse
from compat.level import LEVELS, Level, Policy
from compat.schema import InvalidSchema, ParsedSchema
from magicbyte.operations.migration.finding import Finding
from registry.state.model import Config, Version, context_of
from registry.state.resolve import dependencies, effective_config
from registry.state.view import View

#: The most incompatible versions of a subject that are told one by one.
_MOST_A_SUBJECT = 3


def check_schemas(view: View, default_level: str) -> Iterator[Finding]:
    """Find schemas that our parsers refuse, and versions that our rules would have refused at their subject's level.

    Args:
        view: The state of the origin.
        default_level: The level of subjects without one.
    """
    by_subject: dict[str, list[Version]] = defaultdict(list)
    for subject in view.subjects():
        by_subject[subject] += sorted(view.versions(subject), key=lambda version: version.number)
    for subject, versions in sorted(by_subject.items()):
        parsed: dict[int, ParsedSchema] = {}
        for version in versions:
            try:
                parsed[version.number] = _parsed(view, version, strict=False)
            except InvalidSchema as error:
                yield Finding("UNPARSED", f"{_name(version)} is not parsed: {error.detail}", subject=subject)
                continue
            yield from _strict(view, version)
        config = effective_config(view, subject, default_level)
        yield from _history(subject, [version for version in versions if not version.deleted], parsed, config)


def _parsed(view: View, version: Version, *, strict: bool) -> ParsedSchema:
    schema = version.content.schema
    return parse(schema, dependencies(view, context_of(version.subject), schema), strict=strict)


def _strict(view: View, version: Version) -> Iterator[Finding]:
    """Report a version that is parsed, but would be refused as a new version."""
    if version.deleted:
        return
    try:
        _parsed(view, version, strict=True)
    except InvalidSchema as error:
        sentence = f"{_name(version)} would be refused as a new version: {error.detail}"
        yield Finding("STRICT", sentence, subject=version.subject)


def _history(
    subject: str, versions: Sequence[Version], parsed: Mapping[int, ParsedSchema], config: Config
) -> Iterator[Finding]:
    level = LEVELS.get((config.compatibility_level or "").upper())
    if level is None:
        yield Finding("SETTINGS", f"{subject} has the level {config.compatibility_level}, which we lack", "", subject)
        return
    policy = Policy.LENIENT if config.compatibility_policy == Policy.LENIENT else Policy.STRICT
    told = 0
    for place, version in enumerate(versions):
        schema = parsed.get(version.number)
        earlier = [
            Previous(other.number, parsed[other.number])
            for other in versions[:place]
            if other.number in parsed and _group(other, config) == _group(version, config)
        ]
        if schema is None or not earlier:
            continue
        verdict = check(schema, earlier, level, policy)
        if verdict.compatible:
            continue
        told += 1
        if told <= _MOST_A_SUBJECT:
            yield _differently(version, level, verdict.messages[0])
    if told > _MOST_A_SUBJECT:
        sentence = f"{subject} has {told - _MOST_A_SUBJECT} more versions that our rules refuse at {level.name}"
        yield Finding("JUDGED_DIFFERENTLY", sentence, subject=subject)


def _differently(version: Version, level: Level, message: str) -> Finding:
    sentence = f"our rules refuse {_name(version)} at {level.name}: {message}"
    return Finding("JUDGED_DIFFERENTLY", sentence, subject=version.subject)


def _group(version: Version, config: Config) -> str | None:
    """The value of the property by which a config limits comparisons; versions of other values are not compared."""
    metadata = version.content.metadata
    if config.compatibility_group is None or metadata is None:
        return None
    return metadata.properties.get(config.compatibility_group)


def _name(version: Version) -> str:
    return f"version {version.number} of {version.subject} (id {version.schema_id})"
