"""Parses schemas for the registry: each text once while it is remembered."""

from __future__ import annotations

from functools import lru_cache
from math import inf

from compat.formats import FORMATS, parse
from compat.schema import Dependencies, InvalidSchema, ParsedSchema, SchemaText
from magicbyte.http.errors import ApiError
from registry import errors

#: Up to how many characters, dependencies included, and one in how many of those that are remembered may be so long.
#: A parse takes about 16 times the memory of its text.
_SHARES = ((16 * 1024, 1), (256 * 1024, 32), (inf, 500))


class Parser:
    """A bounded memory of parsed schemas, by text, dependencies and strictness; safe to share among threads."""

    def __init__(self, remembered: int = 1000) -> None:
        self._memories = [(longest, lru_cache(maxsize=-(-remembered // share))(_parse)) for longest, share in _SHARES]

    def __call__(self, schema: SchemaText, dependencies: Dependencies, *, strict: bool) -> ParsedSchema:
        """Parse a schema.

        Raises:
            InvalidSchema: The type's parser refuses the text.
            ApiError: The type is unknown.
        """
        if schema.schema_type not in FORMATS:
            raise errors.UNKNOWN_SCHEMA_TYPE(type=schema.schema_type)
        size = len(schema.text)
        for each in dependencies:
            size += len(each.text)
        for longest, parse_once in self._memories[:-1]:
            if size <= longest:
                return parse_once(schema, dependencies, strict)
        return self._memories[-1][1](schema, dependencies, strict)


def _parse(schema: SchemaText, dependencies: Dependencies, strict: bool) -> ParsedSchema:  # noqa: FBT001  a cache key
    return parse(schema, dependencies, strict=strict)


def invalid_schema(error: InvalidSchema) -> ApiError:
    """The API's error for a text that a parser refused."""
    return errors.INVALID_SCHEMA(type=error.schema_type, details=error.detail)
