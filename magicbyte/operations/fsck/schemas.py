"""Checks of the state: ids with two contents, references that lead nowhere, and circles of references."""

from __future__ import annotations

from collections.abc import Iterator

from magicbyte.operations.fsck.evidence import Evidence
from registry.repair.facts import Repointed
from registry.repair.finding import Finding, Severity
from registry.state.identity import same_identity
from registry.state.model import Version, context_of
from registry.state.resolve import reference_target
from registry.state.view import View

_Id = tuple[str, int]


def find_ids_with_two_contents(evidence: Evidence) -> Iterator[Finding]:
    """Find ids of a context that stand for different schemas."""
    by_id: dict[_Id, list[Version]] = {}
    for version in _versions(evidence.view):
        by_id.setdefault((context_of(version.subject), version.schema_id), []).append(version)
    for (context, schema_id), versions in sorted(by_id.items()):
        groups: list[list[Version]] = []
        for version in versions:
            group = next((group for group in groups if same_identity(group[0].content, version.content)), None)
            if group is None:
                groups.append([version])
            else:
                group.append(version)
        if len(groups) > 1:
            users = evidence.users.get(schema_id, "")
            yield Finding(
                code="ID_TWO_CONTENTS",
                sentence=f"id {schema_id} of context {context} stands for {len(groups)} schemas: "
                + " | ".join(", ".join(map(_name, group)) for group in groups)
                + (f"; in use: {users}" if users else ""),
                context=context,
                schema_id=schema_id,
            )


def find_repointed_versions(evidence: Evidence) -> Iterator[Finding]:
    """Find versions whose id was changed by a later record, without a deletion in between."""
    repointed: tuple[Repointed, ...] = tuple(evidence.facts.repointed) if evidence.facts else ()
    for key, offsets, (earlier, later) in repointed:
        subject = key.subject or ""
        yield Finding(
            code="VERSION_REPOINTED",
            sentence=f"version {key.version} of {subject} had the id {earlier}, and has {later} since offset "
            f"{offsets[1]}: readers that cached it disagree with those that did not",
            offsets=offsets,
            context=context_of(subject),
            subject=subject,
            version=key.version,
            schema_id=later,
        )


def find_dangling_references(evidence: Evidence) -> Iterator[Finding]:
    """Find references to versions that are gone; a soft-deleted version is still there for its referrers."""
    view = evidence.view
    for version in _versions(view):
        for reference in version.references:
            if reference_target(view, context_of(version.subject), reference, allow_deleted=True) is None:
                yield _about(
                    version,
                    "DANGLING_REFERENCE",
                    f"{_name(version)} refers to version {reference.version} of {reference.subject} as "
                    f"{reference.name}, which is not there",
                    Severity.WARNING if version.deleted else None,
                )


def find_reference_cycles(evidence: Evidence) -> Iterator[Finding]:
    """Find circles of references; each is told once, with all versions in it."""
    view = evidence.view
    done: set[_Id] = set()
    for start in _versions(view):
        if not start.references or _key(start) in done:
            continue
        # A frame is a version and the versions that it refers to and that are still to visit. The path is a list and no
        # recursion, because a chain may be long.
        path: list[tuple[Version, list[Version]]] = [(start, _targets(view, start))]
        on_path = {_key(start): 0}
        while path:
            version, waiting = path[-1]
            if not waiting:
                path.pop()
                del on_path[_key(version)]
                done.add(_key(version))
                continue
            target = waiting.pop()
            begin = on_path.get(_key(target))
            if begin is not None:
                circle = [step for step, _ in path[begin:]]
                names = " -> ".join(map(_name, [*circle, circle[0]]))
                yield _about(circle[0], "REFERENCE_CYCLE", f"references lead in a circle: {names}", None)
            elif _key(target) not in done:
                on_path[_key(target)] = len(path)
                path.append((target, _targets(view, target)))


def _targets(view: View, version: Version) -> list[Version]:
    context = context_of(version.subject)
    targets = (reference_target(view, context, one, allow_deleted=True) for one in version.references)
    return list({_key(target): target for target in targets if target is not None}.values())


def _about(version: Version, code: str, sentence: str, severity: Severity | None) -> Finding:
    return Finding(
        code=code,
        sentence=sentence,
        severity=severity,
        context=context_of(version.subject),
        subject=version.subject,
        version=version.number,
        schema_id=version.schema_id,
    )


def _versions(view: View) -> Iterator[Version]:
    for subject in sorted(view.subjects()):
        yield from view.versions(subject)


def _key(version: Version) -> _Id:
    return version.subject, version.number


def _name(version: Version) -> str:
    return f"{version.subject} version {version.number}{' (deleted)' if version.deleted else ''}"
