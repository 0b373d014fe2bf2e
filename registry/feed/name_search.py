"""Search over all versions: by name, field, type, metadata and tags."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cachetools import FIFOCache

from registry.offload.jobs import Names
from registry.state.lookup import named
from registry.state.model import Version
from registry.state.view import View

#: The approximate memory of an entry of the index without its texts, in bytes.
_OVERHEAD = 300


@dataclass(frozen=True, slots=True)
class Query:
    """The conditions of a search; an empty one matches all versions. Names match in any case.

    Attributes:
        prefix: The prefix of the subjects, as for `/subjects`.
        name: Part of the subject or of the schema's full name.
        field: Part of a field's name, at any depth.
        schema_type: The schema type.
        properties: Metadata properties; the value None matches any.
        tag: A tag in the text or in the metadata.
        deleted: Include soft-deleted versions.
        latest_only: Only the latest version of each subject.
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
    """A version that matches, its schema's name, and the paths of the fields that match."""

    version: Version
    name: str | None
    fields: tuple[str, ...]


#: A 64-bit hash of a schema's type and text, with a random seed; no collisions are expected within a registry.
TextKey = int


def text_key(version: Version) -> TextKey:
    """The key of a version's text."""
    return hash((version.schema_type, version.text))


class NameIndex:
    """A cache of the names in schemas, by text; the oldest entries are dropped first. Safe for several threads."""

    def __init__(self, most_bytes: int = 64 << 20) -> None:
        """Make an empty index.

        Args:
            most_bytes: About how much memory it may take, in bytes.
        """
        self._names: FIFOCache[TextKey, Names] = FIFOCache(most_bytes, getsizeof=_size)
        self._lock = threading.Lock()

    def get(self, key: TextKey) -> Names | None:
        """The names in a text; None if it has not been read or was dropped."""
        with self._lock:
            return self._names.get(key)

    def add(self, key: TextKey, names: Names) -> None:
        """Keep the names in a text."""
        with self._lock:
            if _size(names) <= self._names.maxsize:
                self._names[key] = names


def _size(names: Names) -> int:
    paths = names.fields if isinstance(names.fields, tuple) else (names.fields,)
    tagged = sum([len(path) + sum(map(len, tags)) + _OVERHEAD for path, tags in names.tags])
    return _OVERHEAD + len(names.name or "") + sum(map(len, paths)) + tagged


@dataclass(slots=True)
class Scanned:
    """The result of a scan.

    Attributes:
        hits: The versions that match, by subject and number.
        unread: Versions that may match, but whose names must be read first; if there are any, `hits` is incomplete.
    """

    hits: list[Hit] = field(default_factory=list)
    unread: list[Version] = field(default_factory=list)


def scan(view: View, query: Query, index: NameIndex, read: Mapping[TextKey, Names], *, most: int) -> Scanned:
    """Find the versions that match a query, without parsing any schema.

    Args:
        view: The state to search.
        query: The query.
        index: The names in schemas that any search has read.
        read: The names in schemas that this search has read.
        most: How many hits are enough.
    """
    scanned = Scanned()
    for version in candidates(view, query):
        key = text_key(version)
        names = index.get(key) or read.get(key)
        if names is None:
            if may_match(version, query):
                scanned.unread.append(version)
            continue
        hit = match(version, names, query)
        if hit is not None:
            scanned.hits.append(hit)
            if len(scanned.hits) >= most and not scanned.unread:
                break
    return scanned


def candidates(view: View, query: Query) -> Iterator[Version]:
    """The versions that meet the conditions that need no names, by subject and number."""
    has_conditions = bool(query.schema_type or query.properties)
    for subject in named(view.subjects(), query.prefix):
        if query.latest_only and not query.deleted:
            latest = view.latest(subject)
            versions = [] if latest is None else [latest]
        else:
            versions = [version for version in list(view.versions(subject)) if query.deleted or not version.deleted]
        for version in versions[-1:] if query.latest_only else versions:
            if not has_conditions or _has_properties(version, query):
                yield version


def _has_properties(version: Version, query: Query) -> bool:
    if query.schema_type and version.schema_type != query.schema_type:
        return False
    if not query.properties:
        return True
    metadata = version.content.metadata
    properties = metadata.properties if metadata else {}
    return all(key in properties and value in (None, properties[key]) for key, value in query.properties)


def may_match(version: Version, query: Query) -> bool:
    """Tell from the text alone whether the version may have the names and tags."""
    if not (query.name or query.field or query.tag):
        return True
    lowered = version.text.lower()
    in_name = query.name.lower() in version.subject.lower() or query.name.lower().rpartition(".")[2] in lowered
    tagged = not query.tag or query.tag in version.text or _tagged_by_metadata(version, query)
    return in_name and query.field.lower() in lowered and tagged


def match(version: Version, names: Names, query: Query) -> Hit | None:
    """The hit of a version that meets the conditions about names, fields and tags; None if it does not."""
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
