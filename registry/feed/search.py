"""Search over all versions: by name, field, type, metadata and tags."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from registry.offload.jobs import Names
from registry.state.model import Version
from registry.state.view import View, named

#: About what an entry of the index takes in memory besides its texts, in bytes.
_OVERHEAD = 300


@dataclass(frozen=True, slots=True)
class Query:
    """What a version must have; None or empty asks for nothing. Names are compared without regard to case.

    Attributes:
        prefix: Begins the subject, as for `/subjects`.
        name: Part of the subject, or of the schema's full name.
        field: Part of a field's name, at any depth.
        schema_type: The type.
        properties: Metadata properties; a value of None takes any.
        tag: A tag in the text, or in the metadata.
        deleted: Soft-deleted versions too.
        latest_only: The latest version of each subject alone.
    """

    prefix: str = ""
    name: str = ""
    field: str = ""
    schema_type: str = ""
    properties: tuple[tuple[str, str | None], ...] = ()
    tag: str = ""
    deleted: bool = False
    latest_only: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A version that has what was asked for, its schema's name, and the paths of the fields that matched."""

    version: Version
    name: str | None
    fields: tuple[str, ...]


#: Stands for a schema's type and text. A hash of 64 bits with a random seed: no two texts of a registry share one.
TextKey = int


def text_key(version: Version) -> TextKey:
    """The key of a version's text."""
    return hash((version.schema_type, version.text))


class NameIndex:
    """The names in schemas that searches have read, by text; the oldest go when there are too many.

    Safe to share among threads.
    """

    def __init__(self, most_bytes: int = 64 << 20) -> None:
        """Make an empty index.

        Args:
            most_bytes: About how much memory it may take.
        """
        self._most_bytes = most_bytes
        self._bytes = 0
        self._names: OrderedDict[TextKey, Names] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: TextKey) -> Names | None:
        """The names in a text; None if it has not been read, or was forgotten."""
        return self._names.get(key)

    def add(self, key: TextKey, names: Names) -> None:
        """Keep the names in a text."""
        with self._lock:
            if key not in self._names:
                self._names[key] = names
                self._bytes += _size(names)
            while self._bytes > self._most_bytes and self._names:
                self._bytes -= _size(self._names.popitem(last=False)[1])


def _size(names: Names) -> int:
    paths = names.fields if isinstance(names.fields, tuple) else (names.fields,)
    tagged = sum([len(path) + sum(map(len, tags)) + _OVERHEAD for path, tags in names.tags])
    return _OVERHEAD + len(names.name or "") + sum(map(len, paths)) + tagged


@dataclass(slots=True)
class Scanned:
    """What a scan came to.

    Attributes:
        hits: The versions that have what was asked for, by subject and number.
        unread: Versions that may have it, but whose names are to be read first; if there are any, hits are missing.
    """

    hits: list[Hit] = field(default_factory=list)
    unread: list[Version] = field(default_factory=list)


def scan(view: View, query: Query, index: NameIndex, read: Mapping[TextKey, Names], *, most: int) -> Scanned:
    """Look for the versions that a query asks for; parses nothing.

    Args:
        view: Where to look.
        query: The query.
        index: The names that searches have read.
        read: More of them.
        most: How many hits are enough.
    """
    scanned = Scanned()
    for version in _versions(view, query):
        if not _has_properties(version, query):
            continue
        key = text_key(version)
        names = index.get(key) or read.get(key)
        if names is None:
            if _may_match(version, query):
                scanned.unread.append(version)
            continue
        hit = _match(version, names, query)
        if hit is not None:
            scanned.hits.append(hit)
            if len(scanned.hits) >= most and not scanned.unread:
                break
    return scanned


def _versions(view: View, query: Query) -> Iterator[Version]:
    for subject in named(view.subjects(), query.prefix):
        versions = [version for version in list(view.versions(subject)) if query.deleted or not version.deleted]
        yield from versions[-1:] if query.latest_only else versions


def _has_properties(version: Version, query: Query) -> bool:
    if query.schema_type and version.schema_type != query.schema_type:
        return False
    if not query.properties:
        return True
    metadata = version.content.metadata
    properties = metadata.properties if metadata else {}
    return all(key in properties and value in (None, properties[key]) for key, value in query.properties)


def _may_match(version: Version, query: Query) -> bool:
    """Tell from the text alone whether it may have the names and tags."""
    if not (query.name or query.field or query.tag):
        return True
    lowered = version.text.lower()
    in_name = query.name.lower() in version.subject.lower() or query.name.lower().rpartition(".")[2] in lowered
    tagged = not query.tag or query.tag in version.text or _tagged_by_metadata(version, query)
    return in_name and query.field.lower() in lowered and tagged


def _match(version: Version, names: Names, query: Query) -> Hit | None:
    part = query.name.lower()
    if part not in version.subject.lower() and part not in (names.name or "").lower():
        return None
    if not query.field and not query.tag:
        return Hit(version, names.name, ())
    fields = [path for path in names.field_paths if query.field.lower() in path.rpartition(".")[2].lower()]
    if query.tag:
        tagged = {path for path, tags in names.tags if query.tag in tags}
        if not tagged and not _tagged_by_metadata(version, query):
            return None
        fields = [path for path in fields if path in tagged]
    return None if query.field and not fields else Hit(version, names.name, tuple(fields))


def _tagged_by_metadata(version: Version, query: Query) -> bool:
    metadata = version.content.metadata
    return metadata is not None and any(query.tag in tags for tags in metadata.tags.values())
