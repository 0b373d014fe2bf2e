"""Parsing schemas for the registry, with a cache."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from functools import cache
from math import inf

from compat.formats import parse
from compat.schema import Dependencies, InvalidSchema, ParsedSchema, Reference, SchemaText
from magicbyte.kit.errors import ApiError
from registry import errors, metrics

#: The largest short and the largest long text, in characters with dependencies. Of the cached parses, one in 32 may be
#: of a long text, and one in 500 of a longer text. A parse takes about 16 times the memory of its text.
_SHORT, _LONG = 16 * 1024, 256 * 1024
_SHARE_OF_LONG, _SHARE_OF_LONGEST = 32, 500
#: The histogram of a type: prometheus_client takes a lock to find it.
_parse_seconds = cache(metrics.PARSE_SECONDS.labels)


class Parser:
    """A parser with a bounded cache, by text and dependencies; safe for several threads."""

    def __init__(self, remembered: int = 1000, *, most_characters: float = inf) -> None:
        """Make a parser with an empty cache.

        Args:
            remembered: How many parses are cached; fewer of long texts.
            most_characters: The total length of the cached texts, for each class of length.
        """
        self._short = _Memory(remembered, most_characters)
        self._long = _Memory(-(-remembered // _SHARE_OF_LONG), most_characters)
        self._longest = _Memory(-(-remembered // _SHARE_OF_LONGEST), most_characters)

    @property
    def hits(self) -> int:
        """The number of schemas that were in the cache."""
        return self._short.hits + self._long.hits + self._longest.hits

    @property
    def misses(self) -> int:
        """The number of schemas that were not in the cache."""
        return self._short.misses + self._long.misses + self._longest.misses

    def __call__(self, schema: SchemaText, dependencies: Dependencies, *, strict: bool) -> ParsedSchema:
        """Parse a schema.

        Raises:
            InvalidSchema: The type is unknown, or its parser refuses the text.
        """
        size = len(schema.text)
        for dependency in dependencies:
            size += len(dependency.text)
        memory = self._short if size <= _SHORT else self._long if size <= _LONG else self._longest
        return memory.parse(schema, dependencies, strict=strict, size=size)


class _Memory:
    """The schemas that were requested last.

    A strict parse also serves lenient requests: it refuses more texts, but its result is the same.
    """

    def __init__(self, most: int, most_characters: float) -> None:
        self._most = most
        self._most_characters = most_characters
        self._characters = 0
        self.hits = self.misses = 0
        self._lock = threading.Lock()
        #: The parses, whether they were strict, and their sizes in characters. No cache of cachetools has two limits.
        self._parsed: OrderedDict[_Key, tuple[ParsedSchema, bool, int]] = OrderedDict()

    def parse(self, schema: SchemaText, dependencies: Dependencies, *, strict: bool, size: int) -> ParsedSchema:
        key = (schema.schema_type, schema.text, schema.references, dependencies)
        with self._lock:
            remembered = self._parsed.get(key)
            is_hit = remembered is not None and (remembered[1] or not strict)
            self.hits += is_hit
            self.misses += not is_hit
            if remembered is not None:
                self._parsed.move_to_end(key)
        if remembered is not None and is_hit:
            return remembered[0]
        started = time.perf_counter()
        parsed = parse(schema, dependencies, strict=strict)
        _parse_seconds(schema.schema_type).observe(time.perf_counter() - started)
        with self._lock:
            self._characters += size - (self._parsed[key][2] if key in self._parsed else 0)
            self._parsed[key] = (parsed, strict, size)
            while len(self._parsed) > self._most or (
                self._characters > self._most_characters and len(self._parsed) > 1
            ):
                self._characters -= self._parsed.popitem(last=False)[1][2]
        return parsed


_Key = tuple[str, str, tuple[Reference, ...], Dependencies]


def invalid_schema(error: InvalidSchema, *, explain: bool = False) -> ApiError:
    """The API's error for a text that a parser refuses.

    Args:
        error: The parser's error.
        explain: Whether to tell the position in the text.
    """
    refusal = errors.INVALID_SCHEMA(type=error.schema_type, details=error.detail)
    if not explain or error.position is None:
        return refusal
    return refusal.with_extra(position={"line": error.position.line, "column": error.position.column})
