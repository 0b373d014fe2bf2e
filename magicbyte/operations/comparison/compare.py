"""Compares two states; what is equal costs a look, and only what differs is parsed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from magicbyte.kit.plural import plural
from magicbyte.operations.comparison.difference import IGNORABLE, KINDS, ComparedEntry, Comparison, Difference
from magicbyte.operations.comparison.meaning import Meanings
from magicbyte.operations.state import ContextState, State
from registry.state.identity import guid_of
from registry.state.model import Config, Version, context_of
from registry.state.records import content_extras

T = TypeVar("T")

_NOTHING: frozenset[str] = frozenset()
#: How many numbers a sentence lists.
_LISTED = 8


def compare(left: State, right: State, *, ignored: frozenset[str] = _NOTHING) -> Comparison:
    """Compare two states.

    Args:
        left: The one state.
        right: The other state.
        ignored: The names of the kinds that do not count; see `IGNORABLE`. `deleted` also ignores soft-deleted versions
            that only one side has.

    Raises:
        ValueError: There is no such name.
    """
    if unknown := ignored - IGNORABLE:
        raise ValueError(f"nothing is called {', '.join(sorted(unknown))}")
    compared = _Compared(left, right)
    found = [
        difference
        for part in (compared.versions, compared.ids, compared.contexts, compared.settings)
        for difference in part(ignored)
        if difference.kind.ignored_by not in ignored
    ]
    found.sort(key=lambda difference: difference.order)
    return Comparison(tuple(found), len(left.versions), len(right.versions), compared.same_versions)


class _Compared:
    """Two states, and the versions that differ, once `versions` has found them."""

    def __init__(self, left: State, right: State) -> None:
        self._left = left
        self._right = right
        self._meanings = Meanings(left, right)
        #: The contexts and ids of versions that differ or that one side lacks.
        self._ids: set[tuple[str, int]] = set()
        #: Those whose texts are listed as different although they mean the same.
        self._rewritten: set[tuple[str, int]] = set()
        self.same_versions = 0

    def versions(self, ignored: frozenset[str]) -> Iterator[Difference]:
        """Yield the differences between versions, and subjects and versions of one side."""
        one_sided: list[tuple[Version, bool]] = []
        theirs = self._right.versions
        with_times = "ts" not in ignored
        for key, left in self._left.versions.items():
            right = theirs.get(key)
            if right is None:
                one_sided.append((left, True))
            elif left.kept == right.kept and left.schema_id == right.schema_id and left.deleted == right.deleted:
                self.same_versions += 1
                # A source that does not know the time says 0.
                if left.timestamp != right.timestamp and with_times and left.timestamp and right.timestamp:
                    yield _at_another_time(left, right)
            else:
                yield from self._of_pair(left, right)
        ours = self._left.versions
        one_sided += ((right, False) for key, right in theirs.items() if key not in ours)
        if "deleted" in ignored:
            one_sided = [(version, is_left) for version, is_left in one_sided if not version.deleted]
        self._ids |= {_id_of(version) for version, _ in one_sided}
        yield from self._one_sided(one_sided)

    def _of_pair(self, left: Version, right: Version) -> Iterator[Difference]:
        same_content = left.kept == right.kept
        place = ComparedEntry(context_of(left.subject), left.subject, left.number)
        if not same_content or left.schema_id != right.schema_id:
            self._ids |= {_id_of(left), _id_of(right)}
        named = f"{left.subject} version {left.number}"
        if not same_content:
            means_same = self._meanings.same(left, right)
            sides = _content_value(left), _content_value(right)
            if means_same:
                self._rewritten |= {_id_of(left), _id_of(right)}
                said = f"{named} is written in two ways that mean the same"
                yield _difference("TEXT", place, *sides, said)
            else:
                said = f"{named} is another schema: guid {sides[0]['guid']} left, {sides[1]['guid']} right"
                yield _difference("CONTENT", place, *sides, said)
        if left.schema_id != right.schema_id:
            said = f"{named} has id {left.schema_id} left and {right.schema_id} right"
            yield _difference("ID", place, left.schema_id, right.schema_id, said)
        if left.deleted != right.deleted:
            said = f"{named} is soft-deleted on the {'left' if left.deleted else 'right'} only"
            yield _difference("DELETED", place, left.deleted, right.deleted, said)
        if left.timestamp != right.timestamp and left.timestamp and right.timestamp:
            yield _at_another_time(left, right)

    def _one_sided(self, versions: Iterable[tuple[Version, bool]]) -> Iterator[Difference]:
        by_subject: dict[tuple[str, bool], list[Version]] = defaultdict(list)
        for version, is_left in versions:
            by_subject[version.subject, is_left].append(version)
        if not by_subject:
            return
        subjects = {True: {name for name, _ in self._left.versions}, False: {name for name, _ in self._right.versions}}
        for (subject, is_left), missing in by_subject.items():
            side, other = ("left", "right") if is_left else ("right", "left")
            if subject not in subjects[not is_left]:
                numbers = sorted(version.number for version in missing)
                members = [{"version": one.number, "id": one.schema_id, "deleted": one.deleted} for one in missing]
                said = f"{subject} is on the {side} only, with {plural(len(missing), 'version')}: {_listed(numbers)}"
                place = ComparedEntry(context_of(subject), subject)
                yield _difference("SUBJECT", place, *_sides(members, is_left=is_left), said)
                continue
            for version in missing:
                state = ", soft-deleted" if version.deleted else ""
                said = f"{subject} version {version.number} (id {version.schema_id}{state}) is missing on the {other}"
                place = ComparedEntry(context_of(subject), subject, version.number)
                value = {"id": version.schema_id, "deleted": version.deleted, **_content_value(version)}
                yield _difference("VERSION", place, *_sides(value, is_left=is_left), said)

    def ids(self, _ignored: frozenset[str]) -> Iterator[Difference]:
        """Yield the ids that mean different schemas, of the versions that differ."""
        if not self._ids:
            return
        lefts, rights = (_by_id(state.versions.values(), self._ids) for state in (self._left, self._right))
        for identity in sorted(lefts.keys() & rights.keys()):
            context, schema_id = identity
            left, right = _contents(lefts[identity]), _contents(rights[identity])
            if left.keys() == right.keys():
                continue
            place = ComparedEntry(context, schema_id=schema_id)
            sides = ([_use(one) for one in lefts[identity]], [_use(one) for one in rights[identity]])
            if self._mean_same(left.values(), right.values()):
                if identity not in self._rewritten:
                    said = f"id {schema_id} in context {context} is written in two ways that mean the same"
                    yield _difference("TEXT", place, *sides, said)
                continue
            said = (
                f"id {schema_id} in context {context} means different schemas: "
                f"{_users(lefts[identity])} left, {_users(rights[identity])} right"
            )
            yield _difference("ID_TWO_CONTENTS", place, *sides, said)

    def _mean_same(self, left: Iterable[Version], right: Iterable[Version]) -> bool:
        lefts, rights = list(left), list(right)
        return all(any(self._equal(one, other) for other in rights) for one in lefts) and all(
            any(self._equal(one, other) for one in lefts) for other in rights
        )

    def _equal(self, left: Version, right: Version) -> bool:
        return left.kept == right.kept or self._meanings.same(left, right)

    def contexts(self, _ignored: frozenset[str]) -> Iterator[Difference]:
        """Yield the differences between contexts: which exist, and the highest ids they have given."""
        nothing = ContextState(listed=False, highest_id=0)
        for name in sorted({*self._left.contexts, *self._right.contexts}):
            left, right = (state.contexts.get(name, nothing) for state in (self._left, self._right))
            if left.listed != right.listed:
                said = f"context {name} is listed on the {'left' if left.listed else 'right'} only"
                yield _difference("CONTEXT", ComparedEntry(name), left.listed, right.listed, said)
            if left.highest_id != right.highest_id:
                said = f"context {name} has given ids up to {left.highest_id} left and {right.highest_id} right"
                yield _difference("HIGHEST_ID", ComparedEntry(name), left.highest_id, right.highest_id, said)

    def settings(self, _ignored: frozenset[str]) -> Iterator[Difference]:
        """Yield the configs and modes that differ."""
        yield from _settings("CONFIG", "config", self._left.configs, self._right.configs, Config.to_json)
        yield from _settings("MODE", "mode", self._left.modes, self._right.modes, str)


def _settings(
    code: str, noun: str, left: Mapping[str | None, T], right: Mapping[str | None, T], to_json: Callable[[T], Any]
) -> Iterator[Difference]:
    if left == right:
        return
    for subject in sorted({*left, *right}, key=lambda name: name or ""):
        ours, theirs = (None if subject not in side else to_json(side[subject]) for side in (left, right))
        if ours == theirs:
            continue
        place = ComparedEntry(None) if subject is None else ComparedEntry(context_of(subject), subject)
        holder = f"the global {noun}" if subject is None else f"the {noun} of {subject}"
        said = f"{holder} is {_shown(ours)} left and {_shown(theirs)} right"
        yield _difference(code, place, ours, theirs, said)


def _at_another_time(left: Version, right: Version) -> Difference:
    place = ComparedEntry(context_of(left.subject), left.subject, left.number)
    said = f"{left.subject} version {left.number} was written at {left.timestamp} ms left, {right.timestamp} ms right"
    return _difference("TIMESTAMP", place, left.timestamp, right.timestamp, said)


def _difference(code: str, place: ComparedEntry, left: Any, right: Any, sentence: str) -> Difference:
    return Difference(KINDS[code], place, left, right, sentence)


def _sides(value: Any, *, is_left: bool) -> tuple[Any, Any]:
    return (value, None) if is_left else (None, value)


def _id_of(version: Version) -> tuple[str, int]:
    return context_of(version.subject), version.schema_id


def _by_id(versions: Iterable[Version], ids: set[tuple[str, int]]) -> dict[tuple[str, int], list[Version]]:
    """The versions that use one of the ids."""
    uses: dict[tuple[str, int], list[Version]] = defaultdict(list)
    numbers = {schema_id for _, schema_id in ids}
    for version in versions:
        if version.schema_id in numbers and (identity := _id_of(version)) in ids:
            uses[identity].append(version)
    return uses


def _contents(versions: Iterable[Version]) -> dict[tuple[str, str], Version]:
    """The different contents of an id, each with a version that has it."""
    return {(version.schema_type, guid_of(version.content)): version for version in versions}


def _content_value(version: Version) -> dict[str, Any]:
    content = version.content
    return {
        "guid": guid_of(content),
        "schemaType": content.schema_type,
        **content_extras(content),
        "schema": content.text,
    }


def _use(version: Version) -> dict[str, Any]:
    return {"subject": version.subject, "version": version.number, **_content_value(version)}


def _users(versions: list[Version]) -> str:
    return _listed([f"{version.subject} version {version.number}" for version in versions])


def _listed(items: list[Any]) -> str:
    more = len(items) - _LISTED
    listed = ", ".join(map(str, items[:_LISTED]))
    return listed if more <= 0 else f"{listed} and {more:,} more"


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{name}={part}" for name, part in value.items()) or "empty"
