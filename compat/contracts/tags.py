"""The tags of fields: inline ones of the schema, and those that the metadata gives by patterns."""

from __future__ import annotations

from typing import Any

from compat.contracts.model import Metadata
from compat.contracts.wildcards import is_pattern, matches

#: The property of an Avro field and the keyword of a JSON Schema that lists tags.
INLINE_TAGS = "confluent:tags"
NO_TAGS: frozenset[str] = frozenset()


def inline_tags(properties: Any) -> frozenset[str]:
    """The tags in the properties of an Avro field or the keywords of a JSON Schema; anything else has none."""
    tags = properties.get(INLINE_TAGS) if hasattr(properties, "get") else None
    return frozenset(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list | tuple) else NO_TAGS


class TagPatterns:
    """The tags that a schema's metadata gives to fields by their full names.

    Args:
        metadata: The metadata; None gives no tags.
    """

    def __init__(self, metadata: Metadata | None) -> None:
        tags = metadata.tags if metadata is not None else {}
        self._exact = {path: frozenset(names) for path, names in tags.items() if not is_pattern(path)}
        self._patterns = [(path, frozenset(names)) for path, names in tags.items() if is_pattern(path)]

    def __bool__(self) -> bool:
        return bool(self._exact or self._patterns)

    def of(self, full_name: str) -> frozenset[str]:
        """The tags of the field with a full name."""
        tags = self._exact.get(full_name, NO_TAGS)
        for pattern, names in self._patterns:
            if matches(full_name, pattern):
                tags |= names
        return tags
