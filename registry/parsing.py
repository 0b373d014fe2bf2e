"""Parses schemas for the registry: each text once while it is remembered."""

from __future__ import annotations

import threading
from collections import OrderedDict
from math import inf

from compat.formats import FORMATS, parse
from compat.schema import Dependencies, InvalidSchema, ParsedSchema, Reference, SchemaText
from magicbyte.http.errors import ApiError
from registry import errors

#: Up to how many characters, dependencies included, and one in how many of those that are remembered may be so long.
#: A parse takes about 16 times the memory of its text.
_SHARES = ((16 * 1024, 1), (256 * 1024, 32), (inf, 500))


class Parser:
    """A bounded memory of parsed schemas, by text and dependencies; safe to share among threads."""

    def __init__(self, remembered: int = 1000) -> None:
        self._memories = [(longest, _Memory(-(-remembered // share))) for longest, share in _SHARES]

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
        memory = next(memory for longest, memory in self._memories if size <= longest)
        return memory.parse(schema, dependencies, strict=strict)


class _Memory:
    """The schemas that were asked for last.

    What was parsed strictly answers those who ask leniently: strictness refuses more, and reads nothing otherwise.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        #: The parses, each with whether it was strict.
        self._parsed: OrderedDict[_Key, tuple[ParsedSchema, bool]] = OrderedDict()

    def parse(self, schema: SchemaText, dependencies: Dependencies, *, strict: bool) -> ParsedSchema:
        key = (schema.schema_type, schema.text, schema.references, dependencies)
        with self._lock:
            known = self._parsed.get(key)
            if known is not None:
                self._parsed.move_to_end(key)
        if known is not None and (known[1] or not strict):
            return known[0]
        parsed = parse(schema, dependencies, strict=strict)
        with self._lock:
            self._parsed[key] = (parsed, strict)
            if len(self._parsed) > self._most:
                self._parsed.popitem(last=False)
        return parsed


_Key = tuple[str, str, tuple[Reference, ...], Dependencies]


def invalid_schema(error: InvalidSchema) -> ApiError:
    """The API's error for a text that a parser refused."""
    return errors.INVALID_SCHEMA(type=error.schema_type, details=error.detail)
