"""Whether two contents mean the same: their schemas are parsed, each with the references of its own state."""

from __future__ import annotations

from functools import cached_property

from compat.budget import TooMuchWork
from compat.formats import parse
from compat.schema import InvalidSchema, ParsedSchema
from magicbyte.operations.state import State
from registry.state.identity import digest_of
from registry.state.model import Content, Version, context_of
from registry.state.resolve import dependencies

#: A context, in which references are resolved, a type and a digest.
_Identity = tuple[str, str, bytes]


class StateVersions:
    """The versions of a state, as references are resolved in them."""

    def __init__(self, state: State) -> None:
        self._versions = state.versions

    def version(self, subject: str, number: int, /) -> Version | None:
        """The version of a subject; None if there is none."""
        return self._versions.get((subject, number))

    def latest(self, subject: str, /) -> Version | None:
        """The latest version of a subject that is not deleted; None if there is none."""
        number = self._latest.get(subject)
        return None if number is None else self._versions[subject, number]

    @cached_property
    def _latest(self) -> dict[str, int]:
        numbers: dict[str, int] = {}
        for (subject, number), version in self._versions.items():
            if not version.deleted:
                numbers[subject] = max(number, numbers.get(subject, 0))
        return numbers


def parse_version(versions: StateVersions, version: Version) -> ParsedSchema:
    """Parse a version with the versions that it refers to.

    Raises:
        InvalidSchema: The text does not parse, or a reference leads nowhere.
    """
    schema = version.content.schema
    return parse(schema, dependencies(versions, context_of(version.subject), schema))


class Meanings:
    """Compares contents of a left and a right state by what they mean.

    Args:
        left: The left state.
        right: The right state.
    """

    def __init__(self, left: State, right: State) -> None:
        self._left = StateVersions(left)
        self._right = StateVersions(right)
        self._known: dict[tuple[_Identity, _Identity], bool] = {}

    def same(self, left: Version, right: Version) -> bool:
        """Tell whether two contents that differ mean the same.

        They do if the types, references, metadata and rules are equal, and the normalized texts are. Texts that do not
        parse mean the same only if they are equal.
        """
        pair = (_identity(left), _identity(right))
        if pair not in self._known:
            self._known[pair] = self._same(left, right)
        return self._known[pair]

    def _same(self, left: Version, right: Version) -> bool:
        if _all_but_text(left.content) != _all_but_text(right.content):
            return False
        if left.text == right.text:
            return True
        try:
            return parse_version(self._left, left).normalized() == parse_version(self._right, right).normalized()
        except (InvalidSchema, TooMuchWork, RecursionError):
            return False


def _identity(version: Version) -> _Identity:
    return context_of(version.subject), version.schema_type, digest_of(version.content)


def _all_but_text(content: Content) -> tuple[object, ...]:
    """The parts of a content besides its text; the order of references and properties does not count."""
    bare = digest_of(Content(content.schema_type, "", (), content.metadata, content.rule_set))
    references = frozenset((one.name, one.subject, one.version) for one in content.references)
    return content.schema_type, references, bare
