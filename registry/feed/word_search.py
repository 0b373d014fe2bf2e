"""Search for words in names, fields and texts; counts the versions that match in each of the three."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from compat.json.json_text import position
from compat.schema import AVRO, JSON, PROTOBUF, Position
from registry.feed.name_search import NameIndex, Query, TextKey, candidates, match, may_match, text_key
from registry.offload.jobs import Names
from registry.state.model import Version
from registry.state.view import View

NAME, FIELD, TEXT = "name", "field", "text"
#: The places to search.
PLACES = (NAME, FIELD, TEXT)
#: How many versions are searched at a time: their texts are copied in lower case.
_VERSIONS_A_BATCH = 500
#: The length of an excerpt, and of its part before the match, in characters.
_EXCERPT, _BEFORE = 120, 40


@dataclass(frozen=True)
class WordQuery:
    """Words that all have to be in one place. They match in any case.

    Attributes:
        words: The words, in lower case; at least one.
        places: The places to search.
        conditions: Further conditions that a version has to meet.
    """

    words: tuple[str, ...]
    places: frozenset[str]
    conditions: Query

    @cached_property
    def has_conditions_on_names(self) -> bool:
        """Whether the conditions need the names in a schema."""
        return bool(self.conditions.name or self.conditions.field or self.conditions.tag)

    @cached_property
    def path(self) -> re.Pattern[str]:
        """Matches a path in lower case that has all words at its end: in its last name, if they have no dots."""
        ends = [re.escape(word) + r"[^.\n]*$" for word in self.words]
        if len(ends) == 1:
            return re.compile(ends[0], re.MULTILINE)
        return re.compile("^" + "".join(f"(?=.*{end})" for end in ends), re.MULTILINE)


class WordHit(NamedTuple):
    """A version that matches, and the places of the matches."""

    version: Version
    places: tuple[str, ...]


@dataclass(slots=True)
class WordScan:
    """The result of a scan.

    Attributes:
        hits: The versions that match, by subject and number.
        counts: How many of them match in each place.
        unread: Versions that may match, but whose names must be read first; if there are any, the rest is incomplete.
    """

    hits: list[WordHit] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    unread: list[Version] = field(default_factory=list)


def scan_words(view: View, query: WordQuery, index: NameIndex, read: Mapping[TextKey, Names]) -> WordScan:
    """Find the versions that match a query, without parsing any schema.

    Args:
        view: The state to search.
        query: The query.
        index: The names in schemas that any search has read.
        read: The names in schemas that this search has read.
    """
    scan = WordScan()
    versions = candidates(view, query.conditions)
    while batch := list(islice(versions, _VERSIONS_A_BATCH)):
        _Batch(batch, query, index, read).scan(scan)
    return scan


class _Batch:
    """Some versions. Each step selects from indexes of all of them at once, which takes a third of the time."""

    def __init__(
        self, versions: Sequence[Version], query: WordQuery, index: NameIndex, read: Mapping[TextKey, Names]
    ) -> None:
        self._versions = versions
        self._query = query
        self._index = index
        self._read = read
        self._subjects = [version.subject.lower() for version in versions] if NAME in query.places else []

    @cached_property
    def _texts(self) -> Sequence[str]:
        return [version.text.lower() for version in self._versions]

    def scan(self, scan: WordScan) -> None:
        """Add the matching versions to the scan."""
        query, versions = self._query, self._versions
        everything: Collection[int] = range(len(versions))
        by_subject, may_be_named = self._which_may_be_named(everything) if NAME in query.places else ([], [])
        # A text contains its field names, but the names of one path may be far apart in it.
        last_names = [word.rpartition(".")[2] for word in query.words]
        may_have_field = _having(last_names, everything, self._texts) if FIELD in query.places else []
        needed = everything if query.has_conditions_on_names else {*may_be_named, *may_have_field}
        names = self._names(needed, scan)
        matching = {
            NAME: [*by_subject, *self._named(may_be_named, names)],
            FIELD: [number for number in may_have_field if number in names and _has_field(names[number], query)],
            TEXT: _having(query.words, everything, self._texts) if TEXT in query.places else [],
        }
        if query.has_conditions_on_names:
            matching = {place: [number for number in numbers if number in names] for place, numbers in matching.items()}
        places: dict[int, tuple[str, ...]] = {}
        for place, numbers in matching.items():
            scan.counts[place] += len(numbers)
            for number in numbers:
                places[number] = (*places[number], place) if number in places else (place,)
        scan.hits += [WordHit(versions[number], places[number]) for number in sorted(places)]

    def _which_may_be_named(self, everything: Collection[int]) -> tuple[Collection[int], Collection[int]]:
        """The versions whose subject has all words, and others whose subject and full name together may have them."""
        by_subject = _having(self._query.words, everything, self._subjects)
        others: Collection[int] = set(everything).difference(by_subject)
        for word in self._query.words if others else ():
            subjects, texts, last = self._subjects, self._texts, word.rpartition(".")[2]
            others = [number for number in others if word in subjects[number] or last in texts[number]]
        return by_subject, others

    def _named(self, numbers: Iterable[int], names: Mapping[int, Names]) -> Iterator[int]:
        for number in numbers:
            if number in names:
                full_name, subject = (names[number].name or "").lower(), self._subjects[number]
                if all(word in subject or word in full_name for word in self._query.words):
                    yield number

    def _names(self, numbers: Iterable[int], scan: WordScan) -> dict[int, Names]:
        """The names in versions that meet the conditions; versions without names are added to the scan's unread."""
        query, names_by_number = self._query, dict[int, Names]()
        for number in numbers:
            version = self._versions[number]
            key = text_key(version)
            names = self._index.get(key) or self._read.get(key)
            if names is None:
                if not query.has_conditions_on_names or may_match(version, query.conditions):
                    scan.unread.append(version)
            elif not query.has_conditions_on_names or match(version, names, query.conditions) is not None:
                names_by_number[number] = names
        return names_by_number


def _having(words: Iterable[str], numbers: Collection[int], texts: Sequence[str]) -> Collection[int]:
    """The numbers of the texts that have all words."""
    for word in words:
        numbers = [number for number in numbers if word in texts[number]]
    return numbers


def _has_field(names: Names, query: WordQuery) -> bool:
    if isinstance(names.fields, tuple):
        return bool(_matching_fields(names, query))
    return query.path.search(names.fields.lower()) is not None


def _matching_fields(names: Names, query: WordQuery) -> tuple[str, ...]:
    return tuple(path for path in names.field_paths if query.path.search(path.lower()))


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit with the details that a client shows.

    Attributes:
        hit: The hit.
        name: The schema's full name.
        fields: The paths of the fields that match.
        at: The place of the first match in the text; None if the words are only in the name.
        excerpt: The text around that place, from one line.
    """

    hit: WordHit
    name: str | None
    fields: tuple[str, ...]
    at: Position | None
    excerpt: str | None


def show(hit: WordHit, names: Names, query: WordQuery) -> ShownHit:
    """A hit with the position of its first match in the text; the field's, if a field matches.

    Args:
        hit: The hit.
        names: The names in its schema.
        query: The query that it matches.
    """
    fields = _matching_fields(names, query) if FIELD in hit.places else ()
    text = hit.version.text
    offset = _offset_of_field(hit.version.schema_type, text, fields[0]) if fields else None
    if offset is None and hit.places != (NAME,):
        offset = _offset_of_word(text, query.words[0])
    if offset is None:
        return ShownHit(hit, names.name, fields, None, None)
    return ShownHit(hit, names.name, fields, position(text, offset), _excerpt(text, offset))


#: Schema type -> a pattern for the place of a field in a text.
_FIELDS = {AVRO: r'"name"\s*:\s*"({})"', JSON: r'"({})"\s*:', PROTOBUF: r"\b({})\s*="}


def _offset_of_field(schema_type: str, text: str, path: str) -> int | None:
    pattern = _FIELDS.get(schema_type, "({})").format(re.escape(path.rpartition(".")[2]))
    place = re.search(pattern, text)
    return None if place is None else place.start(1)


def _offset_of_word(text: str, word: str) -> int | None:
    place = re.search(re.escape(word.rpartition(".")[2]), text, re.IGNORECASE)
    return None if place is None else place.start()


def _excerpt(text: str, offset: int) -> str:
    start = max(text.rfind("\n", 0, offset) + 1, offset - _BEFORE)
    end = text.find("\n", offset)
    return text[start : min(start + _EXCERPT, len(text) if end < 0 else end)].strip()
