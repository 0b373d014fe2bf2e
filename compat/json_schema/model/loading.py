"""Loads the model from JSON: the compared keywords, and the targets of every `$ref`."""

from __future__ import annotations

from collections.abc import Generator
from decimal import Decimal
from typing import Any, TypeVar

from compat.json_schema.model import nodes as model
from compat.json_schema.model.leaves import LEAVES, Part
from compat.json_schema.model.reading import (
    Malformed,
    ValueKeys,
    array,
    decimal,
    json_key,
    mapping,
    place,
    shown,
    strings,
)
from compat.json_schema.model.resources import Resource, Resources, Target, Unresolved
from compat.schema import Dependencies, Pointer

_KIND_OF_TYPE = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "array": "array",
    "object": "object",
}
#: The order in which the reference tries the kinds that keywords imply.
_IMPLIED = ("array", "object", "number", "string")
#: The order in which the reference handles several combinators: that of a Java HashMap with these keys.
_COMBINATORS = ("allOf", "anyOf", "oneOf")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

#: A schema, its position, and the resource that contains it.
_Schema = tuple[Any, Pointer, Resource]
_Result = TypeVar("_Result")
#: A loader yields the subschemas that it needs, and receives their nodes.
_Loading = Generator[_Schema, model.Node, _Result]


def load(raw: Any, dependencies: Dependencies = ()) -> model.Node:
    """Load the model of a schema given as JSON.

    Raises:
        Malformed: A keyword's value has the wrong type, or a `$ref` has no target.
    """
    try:
        resources = Resources(raw, dependencies)
    except Unresolved as error:
        raise Malformed(str(error), None) from None
    return _Loader(resources).load_all()


class _Loader:
    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._targets: dict[int, model.Node] = {}
        self._value_keys = ValueKeys()
        self._keys: dict[tuple[int, str, Pointer, bool], int] = {}
        #: Whether the schema being loaded is the root, as the target of a reference.
        self._in_root_again = False
        self._queue: list[tuple[int, Target]] = []

    def load_all(self) -> model.Node:
        root = self._resources.root
        node = self._load((root.raw, (), root))
        # Load a target after the schemas that refer to it, because references may be circular.
        while self._queue:
            key, target = self._queue.pop()
            try:
                self._in_root_again = target.raw is root.raw
                self._targets[key] = self._load((target.raw, target.pointer, target.resource))
            except Malformed as error:
                if not target.resource.foreign:
                    raise
                raise Malformed(f"in the referenced schema '{target.resource.uri}': {error.detail}", None) from None
        return node

    def _load(self, outermost: _Schema) -> model.Node:
        """Load a schema; each subschema is a generator of its own, so that nesting does not deepen the stack."""
        stack = [self._schema(outermost)]
        node: model.Node | None = None
        while stack:
            try:
                within = stack[-1].send(node)  # type: ignore[arg-type]  # None starts a generator
            except StopIteration as finished:
                node = finished.value
                stack.pop()
            else:
                node = None
                stack.append(self._schema(within))
        assert node is not None
        return node

    def _schema(self, schema: _Schema) -> _Loading[model.Node]:
        raw, pointer, enclosing = schema
        resource = self._resources.at(raw, enclosing)
        at = None if resource.foreign else pointer
        if isinstance(raw, bool):
            return model.Empty(at=at, raw=raw) if raw else model.Never(at=at, raw=raw)
        if not isinstance(raw, dict):
            raise Malformed(f"{shown(raw)} is not a schema: it must be an object or a boolean", at)
        parts = yield from self._parts(raw, pointer, resource)
        annotations = self._annotations(raw, resource)
        if len(parts) == 1:
            kind, fields = parts[0]
            return kind(at=at, raw=raw, **annotations, **fields)
        if not parts:
            return model.Empty(at=at, raw=raw, **annotations)
        members = tuple([kind(at=at, raw=raw, **fields) for kind, fields in parts])
        return model.Combined(at=at, raw=raw, criterion="allOf", members=members, size=len(members), **annotations)

    def _parts(self, raw: dict[str, Any], pointer: Pointer, resource: Resource) -> _Loading[list[Part]]:
        dialect = resource.dialect
        parts: list[Part] = [
            (model.Reference, {"key": self._reference(raw, keyword, pointer, resource), "targets": self._targets})
            for keyword in (_REFERENCES if dialect.modern else _REFERENCES[:1])
            if isinstance(raw.get(keyword), str)
        ]
        if parts and not dialect.modern:
            return parts
        if "enum" in raw:
            values = array(raw, "enum", pointer)
            parts.append((model.Enum, {"values": frozenset([json_key(value) for value in values])}))
        for criterion in _COMBINATORS:
            if criterion in raw:
                members = yield from self._schemas(raw, criterion, pointer, resource)
                spread = [part for member in members for part in (_spread(member) if dialect.modern else [(0, member)])]
                distinct: dict[tuple[bytes, int], model.Node] = {}
                for index, part in spread:
                    distinct.setdefault((self._value_keys.of(part.raw), index), part)
                fields = {"criterion": criterion, "members": tuple(distinct.values()), "size": len(spread)}
                parts.append((model.Combined, fields))
        if "not" in raw:
            parts.append((model.Not, {"body": (yield raw["not"], (*pointer, "not"), resource)}))
        if dialect.has_const and "const" in raw:
            parts.append((model.Const, {"value": json_key(raw["const"])}))
        parts.extend((yield from self._typed(raw, pointer, resource)))
        if dialect.has_conditional and any(keyword in raw for keyword in ("if", "then", "else")):
            yield from self._only_resolve(raw, ("if", "then", "else"), pointer, resource)
            if "if" in raw or not dialect.modern:
                parts.append((model.Conditional, {}))
        return parts

    def _typed(self, raw: dict[str, Any], pointer: Pointer, resource: Resource) -> _Loading[list[Part]]:
        """The parts for `type`, then the parts for keywords of other types."""
        parts: list[Part] = []
        said: set[str] = set()
        types = raw.get("type", ())
        names = types if isinstance(types, list) else [types] if "type" in raw else []
        built: list[Part] = []
        for name in names:
            if not isinstance(name, str) or name not in _KIND_OF_TYPE:
                raise Malformed(f"unknown type: {shown(name)}", place((*pointer, "type"), resource))
            said.add(_KIND_OF_TYPE[name])
            built.append(
                (yield from self._kind(_KIND_OF_TYPE[name], raw, pointer, resource, integer=name == "integer"))
            )
        if isinstance(types, list):
            at = place(pointer, resource)
            members = tuple([kind(at=at, raw=raw, **fields) for kind, fields in built])
            parts.append((model.Combined, {"criterion": "anyOf", "members": members, "size": len(members)}))
        else:
            parts.extend(built)
        for kind in _IMPLIED:
            if kind not in said and _implies(raw, kind, resource):
                parts.append((yield from self._kind(kind, raw, pointer, resource)))  # noqa: PERF401  it yields
        return parts

    def _kind(
        self, kind: str, raw: dict[str, Any], pointer: Pointer, resource: Resource, *, integer: bool = False
    ) -> _Loading[Part]:
        if kind == "object":
            return model.Object, (yield from self._object(raw, pointer, resource))
        if kind == "array":
            return model.Array, (yield from self._array_fields(raw, pointer, resource))
        return LEAVES[kind](raw, pointer, resource, integer)

    def _object(self, raw: dict[str, Any], pointer: Pointer, resource: Resource) -> _Loading[dict[str, Any]]:
        dialect = resource.dialect
        arrays: dict[str, frozenset[str]] = {}
        schemas: dict[str, model.Node] = {}
        keywords = ("dependentRequired", "dependentSchemas") if dialect.modern else ("dependencies",)
        for keyword in keywords:
            for name, value in mapping(raw, keyword, pointer).items():
                where = (*pointer, keyword, name)
                if isinstance(value, list) and keyword != "dependentSchemas":
                    arrays[name] = frozenset(strings(value, where))
                elif keyword != "dependentRequired":
                    schemas[name] = yield value, where, resource
                else:
                    raise Malformed(f"{shown(value)} is not an array of names", place(where, resource))
        yield from self._only_resolve(
            raw, ("propertyNames",) if "propertyNames" in dialect.kinds["object"] else (), pointer, resource
        )
        properties: dict[str, model.Node] = {}
        for name, value in mapping(raw, "properties", pointer).items():
            properties[name] = yield value, (*pointer, "properties", name), resource
        patterns: list[tuple[str, model.Node]] = []
        for pattern, value in mapping(raw, "patternProperties", pointer).items():
            schema = yield value, (*pointer, "patternProperties", pattern), resource
            patterns.append((pattern, schema))
        return {
            "properties": properties,
            "required": frozenset(strings(array(raw, "required", pointer), (*pointer, "required"))),
            "patterns": tuple(patterns),
            "additional": (yield from self._flag_or_schema(raw, "additionalProperties", pointer, resource)),
            "unevaluated": (yield from self._unevaluated(raw, "unevaluatedProperties", pointer, resource)),
            "dependent_required": arrays,
            "dependent_schemas": schemas,
            "dependencies_keywords": keywords,
            "min_properties": decimal(raw, "minProperties", pointer),
            "max_properties": decimal(raw, "maxProperties", pointer),
        }

    def _array_fields(self, raw: dict[str, Any], pointer: Pointer, resource: Resource) -> _Loading[dict[str, Any]]:
        dialect = resource.dialect
        fields: dict[str, Any] = {
            "min_items": decimal(raw, "minItems", pointer),
            "max_items": decimal(raw, "maxItems", pointer),
            "unique_items": raw.get("uniqueItems") is True,
            "unevaluated": (yield from self._unevaluated(raw, "unevaluatedItems", pointer, resource)),
        }
        if dialect.modern:
            bounds = decimal(raw, "minContains", pointer), decimal(raw, "maxContains", pointer)
            # Without `contains` they have no effect; with it, one item must match unless another number is given.
            if "contains" in raw:
                fields["min_contains"] = Decimal(1) if bounds[0] is None else bounds[0]
                fields["max_contains"] = bounds[1]
        yield from self._only_resolve(
            raw, ("contains",) if "contains" in dialect.kinds["array"] else (), pointer, resource
        )
        has_tuple = isinstance(raw.get(dialect.tuple_keyword), list)
        if has_tuple:
            fields["items"] = yield from self._schemas(raw, dialect.tuple_keyword, pointer, resource)
        if has_tuple or dialect.rest_keyword != "items":
            fields["additional"] = yield from self._flag_or_schema(raw, dialect.rest_keyword, pointer, resource)
        if "items" in raw and not (has_tuple and "items" in (dialect.tuple_keyword, dialect.rest_keyword)):
            whole = yield raw["items"], (*pointer, "items"), resource
            # In newer drafts, the reference treats a boolean `items` as a setting for additional items.
            if dialect.modern and isinstance(raw["items"], bool):
                fields["additional"] = raw["items"]
            else:
                fields["all_items"] = whole
        return fields

    def _flag_or_schema(
        self, raw: dict[str, Any], keyword: str, pointer: Pointer, resource: Resource
    ) -> _Loading[model.Node | bool]:
        value = raw.get(keyword, True)
        return value if isinstance(value, bool) else (yield value, (*pointer, keyword), resource)

    def _unevaluated(
        self, raw: dict[str, Any], keyword: str, pointer: Pointer, resource: Resource
    ) -> _Loading[model.Node | None]:
        if not resource.dialect.modern or keyword not in raw:
            return None
        return (yield raw[keyword], (*pointer, keyword), resource)

    def _only_resolve(
        self, raw: dict[str, Any], keywords: tuple[str, ...], pointer: Pointer, resource: Resource
    ) -> _Loading[None]:
        """Load schemas that are not compared, so that a `$ref` without a target in them is refused."""
        for keyword in keywords:
            if keyword in raw:
                yield raw[keyword], (*pointer, keyword), resource

    def _schemas(
        self, raw: dict[str, Any], keyword: str, pointer: Pointer, resource: Resource
    ) -> _Loading[tuple[model.Node, ...]]:
        nodes: list[model.Node] = []
        for index, value in enumerate(array(raw, keyword, pointer)):
            nodes.append((yield value, (*pointer, keyword, index), resource))
        return tuple(nodes)

    def _reference(self, raw: dict[str, Any], keyword: str, pointer: Pointer, resource: Resource) -> int:
        try:
            target = self._resources.resolve(raw[keyword], resource)
        except Unresolved as error:
            detail = f"unresolved reference '{raw[keyword]}': {error}"
            raise Malformed(detail, place((*pointer, keyword), resource)) from None
        # In newer drafts, the reference loads the root once more for its own references to itself.
        again = resource.dialect.modern and target.raw is self._resources.root.raw and self._in_root_again
        identity = (id(target.resource), target.resource.uri, target.pointer, again)
        if identity not in self._keys:
            self._keys[identity] = len(self._keys)
            self._queue.append((self._keys[identity], target))
        return self._keys[identity]

    @staticmethod
    def _annotations(raw: dict[str, Any], resource: Resource) -> dict[str, Any]:
        annotations: dict[str, Any] = {}
        for name in ("title", "description"):
            if isinstance(raw.get(name), str):
                annotations[name] = raw[name]
        if isinstance(raw.get(resource.dialect.id_keyword), str) and not resource.dialect.modern:
            annotations["id"] = raw[resource.dialect.id_keyword]
        if "default" in raw:
            annotations["default"] = json_key(raw["default"])
        if isinstance(raw.get("connect.type"), str):
            annotations["connect_type"] = raw["connect.type"]
        return annotations


def _spread(member: model.Node) -> list[tuple[int, model.Node]]:
    """The parts of a combined schema's member with keywords of several kinds, else the member; each with its index.

    In newer drafts, the reference takes these parts for members of the list.
    """
    if not isinstance(member, model.Combined) or member.criterion != "allOf":
        return [(0, member)]
    # The members of an explicit allOf have values of their own.
    is_implied = bool(member.members) and all(part.raw is member.raw for part in member.members)
    return list(enumerate(member.members)) if is_implied else [(0, member)]


def _implies(raw: dict[str, Any], kind: str, resource: Resource) -> bool:
    """Whether a keyword implies a kind of values; an empty `properties` in newer drafts does not."""
    empty = ("properties", "patternProperties") if resource.dialect.modern else ()
    return any(
        keyword in raw and not (keyword in empty and raw[keyword] == {}) for keyword in resource.dialect.kinds[kind]
    )
