"""Pages of versions, for `GET /schemas`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from registry.state.lookup import named
from registry.state.model import Version
from registry.state.resolve import resolve_alias
from registry.state.view import View


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The selection of versions for a page.

    Attributes:
        prefix: The prefix of the subjects, as for `/subjects`.
        deleted: Include soft-deleted versions.
        latest_only: Only the latest version of each subject.
        rule_type: Only versions with rules of this type; empty for all.
        aliases: Include the subjects' aliases.
        first: The index of the page's first version.
        end: The index after the page's last version, at most.
        most_characters: The total length of a page's texts, at most; None for no limit.
    """

    prefix: str
    deleted: bool
    latest_only: bool
    rule_type: str
    aliases: bool
    first: int
    end: int
    most_characters: int | None


@dataclass(frozen=True, slots=True)
class Page:
    """Versions sorted by subject and number, the index of the next page if there is one, and aliases by subject."""

    versions: Sequence[Version]
    following: int | None
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)


def list_versions(view: View, query: ListQuery) -> Page:
    """The page that a query selects."""
    subjects = named(view.subjects(), query.prefix)
    if query.aliases:
        # The prefix may be that of an alias, which has no versions of its own.
        aliased = {resolve_alias(view, name) for name in named(view.configured(), query.prefix) if view.may_see(name)}
        subjects = sorted(subject for subject in aliased.union(subjects) if view.may_see(subject))
    versions: list[Version] = []
    for subject in subjects:
        visible = [version for version in list(view.versions(subject)) if query.deleted or not version.deleted]
        versions += visible[-1:] if query.latest_only else visible
    if query.rule_type:
        versions = [version for version in versions if _has_rules(version, query.rule_type)]
    chosen = versions[query.first : query.end]
    if query.most_characters is not None:
        chosen = _within(chosen, query.most_characters)
    following = query.first + len(chosen)
    return Page(
        chosen,
        following if chosen and following < len(versions) else None,
        _aliases(view) if query.aliases else {},
    )


def _has_rules(version: Version, kind: str) -> bool:
    rule_set = version.content.rule_set
    return rule_set is not None and any(
        rules and (kind in name.upper() or any((rule.type or "").upper() == kind for rule in rules))
        for name, rules, _ in rule_set.groups
    )


def _within(versions: list[Version], most_characters: int) -> list[Version]:
    """The first versions whose texts are not longer than `most_characters` in total; at least one."""
    for index, version in enumerate(versions):
        most_characters -= len(version.text)
        if most_characters < 0:
            return versions[: max(1, index)]
    return versions


def _aliases(view: View) -> dict[str, list[str]]:
    """The names that are aliases of each subject, sorted."""
    aliases: dict[str, list[str]] = {}
    for name in sorted(view.configured()):
        subject = resolve_alias(view, name)
        if subject != name and view.may_see(name):
            aliases.setdefault(subject, []).append(name)
    return aliases
