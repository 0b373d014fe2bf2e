"""Anonymous texts of JSON Schemas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import quote, unquote

from compat.json import json_text
from compat.json_schema.model.metaschemas import finds
from magicbyte.operations.anonymize.tokens import Tokens

#: Keywords whose values are schemas or lists of schemas, and keywords with schemas or lists of names by name.
_SUBSCHEMAS = frozenset(
    (
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "oneOf",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    )
)
_MAPS = frozenset({"$defs", "definitions", "dependencies", "dependentRequired", "dependentSchemas", "properties"})
_PATTERNS = "patternProperties"
#: Keywords whose numbers stay, and whose texts do if they are of `_KNOWN`: they restrict data by sizes and kinds.
_KEPT = frozenset(
    (
        "$recursiveAnchor",
        "connect.type",
        "contentEncoding",
        "contentMediaType",
        "deprecated",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "nullable",
        "readOnly",
        "type",
        "uniqueItems",
        "writeOnly",
    )
)
#: Keywords whose values are replaced as JSON values, with the numbers that restrict data.
_RESTRICTING = frozenset({"const", "enum"})
_VALUES = frozenset(
    (
        "$anchor",
        "$comment",
        "$dynamicAnchor",
        "confluent:tags",
        "default",
        "description",
        "examples",
        "required",
        "title",
    )
)
_URIS = frozenset({"$dynamicRef", "$id", "$recursiveRef", "$ref", "$schema", "id"})
#: Texts that say nothing of whose schema it is: types, Connect's types, encodings and formats.
_KNOWN = frozenset(
    (
        "any",
        "application/json",
        "array",
        "base16",
        "base32",
        "base64",
        "boolean",
        "bytes",
        "date",
        "date-time",
        "duration",
        "email",
        "float32",
        "float64",
        "hostname",
        "idn-email",
        "idn-hostname",
        "int16",
        "int32",
        "int64",
        "int8",
        "integer",
        "ipv4",
        "ipv6",
        "iri",
        "iri-reference",
        "json-pointer",
        "map",
        "null",
        "number",
        "object",
        "regex",
        "relative-json-pointer",
        "string",
        "time",
        "uri",
        "uri-reference",
        "uri-template",
        "uuid",
    )
)
#: Patterns that match everything say nothing.
_OPEN_PATTERNS = frozenset({"", ".*", "^.*$", ".+", "^.+$", "^", "$"})
_METASCHEMAS = re.compile(r"https?://json-schema\.org/")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)(.*)", re.DOTALL)
_SPLIT = re.compile(r"([/:?])")


def property_names(texts: Iterable[str]) -> frozenset[str]:
    """The names of properties in schemas; texts that are no JSON have none."""
    names: set[str] = set()
    for text in texts:
        try:
            waiting = [json_text.loads(text)]
        except json_text.InvalidJson:
            continue
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                properties = value.get("properties")
                names |= properties.keys() if isinstance(properties, dict) else set()
                waiting += value.values()
            elif isinstance(value, list):
                waiting += value
    return frozenset(names)


class AnonymousJsonSchema:
    """Replaces the names and texts of JSON Schemas.

    Args:
        tokens: The tokens.
        names: The names of properties in all schemas: a pattern for names becomes one that matches the tokens of
            those that it has matched.
    """

    def __init__(self, tokens: Tokens, names: frozenset[str]) -> None:
        self._tokens = tokens
        self._names = names
        self._patterns: dict[str, str] = {}

    def text(self, text: str) -> str:
        """The text of a schema with names, texts and URIs replaced.

        Raises:
            InvalidJson: It is no JSON.
        """
        return json_text.dumps(self._schema(json_text.loads(text, decimals=True)))

    def uri(self, text: str) -> str:
        """A URI with its parts replaced, so that a relative one leads where it has led."""
        base, hash_sign, fragment = text.partition("#")
        if _METASCHEMAS.match(base):
            return text
        match = _SCHEME.fullmatch(base)
        scheme, rest = (match[1], match[2]) if match else ("", base)
        parts = (
            part if _SPLIT.fullmatch(part) or part in (".", "..") else self._part(part) for part in _SPLIT.split(rest)
        )
        return scheme + "".join(parts) + hash_sign + self._fragment(fragment)

    def _part(self, part: str) -> str:
        return self._tokens.of(unquote(part))

    def _fragment(self, fragment: str) -> str:
        if not fragment.startswith("/"):
            return self._tokens.of(unquote(fragment))
        names_follow = patterns_follow = False
        parts = []
        for raw in fragment[1:].split("/"):
            part = unquote(raw).replace("~1", "/").replace("~0", "~")
            if patterns_follow:
                mapped = self.pattern_of_names(part)
            elif names_follow:
                mapped = self._tokens.of(part)
            else:
                mapped = part if _is_keyword(part) or part.isdigit() else self._tokens.of(part)
            names_follow, patterns_follow = (
                (False, False) if names_follow or patterns_follow else (part in _MAPS, part == _PATTERNS)
            )
            parts.append(quote(mapped.replace("~", "~0").replace("/", "~1"), safe="~"))
        return "/" + "/".join(parts)

    def pattern_of_names(self, pattern: str) -> str:
        """A pattern that finds the tokens of the names in which a pattern finds something, and no other."""
        if pattern in _OPEN_PATTERNS:
            return pattern
        if pattern not in self._patterns:
            own = self._tokens.of(pattern)
            found = sorted(self._tokens.of(name) for name in self._names if finds(pattern, name))
            self._patterns[pattern] = f"^(?:{'|'.join([own, *found])})$"
        return self._patterns[pattern]

    def _schema(self, value: Any) -> Any:
        """A schema, or what may have schemas in it."""
        if isinstance(value, list):
            return [self._schema(one) for one in value]
        if isinstance(value, dict):
            return {
                name if _is_keyword(name) else self._tokens.of(name): self._keyword(name, part)
                for name, part in value.items()
            }
        return self._tokens.value(value, keep_numbers=True)

    def _keyword(self, name: str, value: Any) -> Any:
        kinds, replace = self.keywords.get(name, ((), None))
        return replace(self, value) if replace is not None and isinstance(value, kinds) else self._schema(value)

    def _by_name(self, value: Mapping[str, Any]) -> Any:
        return {self._tokens.of(key): self._schema(part) for key, part in value.items()}

    def _by_pattern(self, value: Mapping[str, Any]) -> Any:
        return {self.pattern_of_names(key): self._schema(part) for key, part in value.items()}

    def _by_uri(self, value: Mapping[str, Any]) -> Any:
        return {self.uri(key): part for key, part in value.items()}

    def _pattern(self, value: str) -> str:
        return value if value in _OPEN_PATTERNS else f"^{self._tokens.of(value)}$"

    def _restricting(self, value: Any) -> Any:
        return self._tokens.value(value, keep_numbers=True)

    def _value(self, value: Any) -> Any:
        return self._tokens.value(value)

    def _kept(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._kept(one) if isinstance(one, str) else self._schema(one) for one in value]
        return self._tokens.of(value) if isinstance(value, str) and value not in _KNOWN else value

    #: Keywords but for those of `_SUBSCHEMAS` -> the kinds of values that are replaced, and how; others are walked.
    keywords: Mapping[str, tuple[tuple[type, ...], Callable[[Any, Any], Any]]] = {
        **dict.fromkeys(_MAPS, ((dict,), _by_name)),
        **dict.fromkeys(_KEPT, ((str, list, int, Decimal, type(None)), _kept)),
        **dict.fromkeys(_URIS, ((str,), uri)),
        **dict.fromkeys(_RESTRICTING, ((object,), _restricting)),
        **dict.fromkeys(_VALUES, ((str, list, int, Decimal, type(None)), _value)),
        "default": ((object,), _value),
        _PATTERNS: ((dict,), _by_pattern),
        "$vocabulary": ((dict,), _by_uri),
        "pattern": ((str,), _pattern),
    }


def _is_keyword(name: str) -> bool:
    return name in _SUBSCHEMAS or name in AnonymousJsonSchema.keywords
