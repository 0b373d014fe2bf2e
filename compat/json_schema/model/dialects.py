"""The drafts of JSON Schema and their keywords, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ARRAY = ("items", "additionalItems", "minItems", "maxItems", "uniqueItems")
_OBJECT = (
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "dependencies",
    "patternProperties",
    "additionalProperties",
)
_NUMBER = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_STRING = ("minLength", "maxLength", "pattern")
_OBJECT_2019 = (
    *(keyword for keyword in _OBJECT if keyword != "dependencies"),
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
)
_CONTAINS_2019 = ("contains", "minContains", "maxContains", "unevaluatedItems")


@dataclass(frozen=True, slots=True)
class Dialect:
    """A draft of JSON Schema.

    Attributes:
        name: The draft's common name.
        url: The address of its metaschema.
        id_keyword: The keyword that identifies a schema resource.
        kinds: For each kind of node, the keywords that imply it if there is no `type`.
        modern: Whether the draft is 2019-09 or later: `$ref` has siblings, `$anchor` exists, an empty `properties`
            implies no kind, and changes of `$id` are not reported (the reference loads them with another library).
        tuple_keyword: The keyword whose array describes the first items.
        rest_keyword: The keyword for the items after the tuple.
        has_const: Whether `const` exists.
        has_conditional: Whether `if`, `then` and `else` exist.
        exclusive_flags: Whether `exclusiveMinimum` and `exclusiveMaximum` are booleans.
    """

    name: str
    url: str
    id_keyword: str
    kinds: Mapping[str, tuple[str, ...]]
    modern: bool = False
    tuple_keyword: str = "items"
    rest_keyword: str = "additionalItems"
    has_const: bool = True
    has_conditional: bool = True
    exclusive_flags: bool = False


DRAFT_4 = Dialect(
    name="draft-04",
    url="http://json-schema.org/draft-04/schema#",
    id_keyword="id",
    kinds={"array": _ARRAY, "object": _OBJECT, "number": _NUMBER, "string": (*_STRING, "format")},
    has_const=False,
    has_conditional=False,
    exclusive_flags=True,
)
DRAFT_6 = Dialect(
    name="draft-06",
    url="http://json-schema.org/draft-06/schema#",
    id_keyword="$id",
    kinds={
        "array": (*_ARRAY, "contains"),
        "object": (*_OBJECT, "propertyNames"),
        "number": _NUMBER,
        "string": (*_STRING, "format"),
    },
    has_conditional=False,
)
DRAFT_7 = Dialect(name="draft-07", url="http://json-schema.org/draft-07/schema#", id_keyword="$id", kinds=DRAFT_6.kinds)
DRAFT_2019_09 = Dialect(
    name="2019-09",
    url="https://json-schema.org/draft/2019-09/schema",
    id_keyword="$id",
    kinds={
        "array": (*_ARRAY, *_CONTAINS_2019),
        "object": _OBJECT_2019,
        "number": _NUMBER,
        "string": _STRING,
    },
    modern=True,
)
DRAFT_2020_12 = Dialect(
    name="2020-12",
    url="https://json-schema.org/draft/2020-12/schema",
    id_keyword="$id",
    kinds={
        "array": ("prefixItems", "items", "minItems", "maxItems", "uniqueItems", *_CONTAINS_2019),
        "object": _OBJECT_2019,
        "number": _NUMBER,
        "string": _STRING,
    },
    modern=True,
    tuple_keyword="prefixItems",
    rest_keyword="items",
)

#: The dialects by metaschema address, without scheme and trailing `#`.
DIALECTS = {
    dialect.url.partition("://")[2].rstrip("#"): dialect
    for dialect in (DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019_09, DRAFT_2020_12)
}


def metaschema_of(url: str) -> Dialect | None:
    """The dialect with this metaschema address, which may use http or https and may end with `#`."""
    scheme, _, rest = url.partition("://")
    return DIALECTS.get(rest.removesuffix("#")) if scheme in ("http", "https") else None


def dialect_of(schema: Any, otherwise: Dialect = DRAFT_7) -> Dialect:
    """The dialect that `$schema` names; `otherwise` (draft-07 in the reference) if it is missing or unknown."""
    url = schema.get("$schema") if isinstance(schema, dict) else None
    return (metaschema_of(url) if isinstance(url, str) else None) or otherwise
