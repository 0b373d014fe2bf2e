"""JSON Schemas as walks need them: which schemas apply to a value, and which types they allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from compat.contracts.tags import NO_TAGS, inline_tags
from compat.json import json_text
from compat.json_schema.model.dialects import dialect_of
from compat.json_schema.model.resources import Resource, Resources, Unresolved
from compat.json_schema.validate.validators import Validator, compiled
from compat.schema import JSON, Dependencies, Dependency, InvalidSchema, Pointer

#: The address of the walked text in the schemas that judge the members of `anyOf` and `oneOf`.
_OWN_TEXT = "http://walked.invalid/schema"
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
#: The most steps of a pattern that backtracks.
BACKTRACKS = 100_000
#: Keywords that imply a type if none is declared.
_IMPLYING = {"object": ("properties",), "array": ("items", "prefixItems")}
ALL_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A schema in a text.

    Attributes:
        raw: The schema: an object or a boolean.
        pointer: Its place in the text.
        resource: The resource that contains it; references resolve relative to it.
        text: The name of the text among the dependencies, or the own address; None if it is a metaschema.
    """

    raw: Any
    pointer: Pointer
    resource: Resource
    text: str | None

    def get(self, keyword: str) -> Any:
        """The value of a keyword; None if it is absent."""
        return self.raw.get(keyword) if isinstance(self.raw, dict) else None

    @property
    def types(self) -> frozenset[str]:
        """The types that the schema itself allows."""
        declared = self.get("type")
        if isinstance(declared, str):
            return frozenset({declared})
        if isinstance(declared, list):
            return frozenset(name for name in declared if isinstance(name, str))
        implied = [name for name, keywords in _IMPLYING.items() if any(self.get(word) is not None for word in keywords)]
        if self.raw is False:
            return frozenset()
        return frozenset(implied) if len(implied) == 1 else ALL_TYPES


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Schemas that apply to some values: members of `anyOf` and `oneOf` that accept the value, or `then` and `else`.

    Attributes:
        key: The identity of the choice.
        is_one: Whether at most one of the members applies.
        members: The schemas.
        condition: The schema of `if`; None for `anyOf` and `oneOf`.
    """

    key: tuple[int, str]
    is_one: bool
    members: tuple[Node, ...]
    condition: Node | None = None


@dataclass(frozen=True, eq=False)
class Flat:
    """The schemas that apply to a value, whatever it is; the tags in them; and the choices that depend on it."""

    nodes: tuple[Node, ...]
    tags: frozenset[str]
    choices: tuple[Choice, ...]

    @cached_property
    def types(self) -> frozenset[str]:
        """The types that all schemas allow; if they contradict each other, those that one of them allows."""
        declared = [node.types for node in self.nodes if node.types != ALL_TYPES]
        if not declared:
            return ALL_TYPES
        return frozenset.intersection(*declared) or frozenset.union(*declared)

    @cached_property
    def is_enum(self) -> bool:
        """Whether one of the schemas lists its values."""
        return any(isinstance(node.raw, dict) and ("enum" in node.raw or "const" in node.raw) for node in self.nodes)

    @cached_property
    def is_record(self) -> bool:
        """Whether one of the schemas declares properties."""
        return any(isinstance(node.get("properties"), dict) for node in self.nodes)


class Schemas:
    """The schemas of a text and of those that it refers to.

    Args:
        raw: The outermost schema as JSON.
        dependencies: The schemas that it refers to.
    """

    def __init__(self, raw: Any, dependencies: Dependencies) -> None:
        self._resources = Resources(raw, dependencies)
        self._dependencies = dependencies
        self._raw = raw
        self.root = Node(raw, (), self._resources.root, _OWN_TEXT)
        self._nodes: dict[tuple[int, int], Node] = {}
        self._judges: dict[int, Validator | None] = {}
        self._flat: dict[tuple[int, ...], Flat] = {}

    def flat(self, nodes: tuple[Node, ...]) -> Flat:
        """The schemas that apply together with some schemas: the targets of `$ref` and the members of `allOf`."""
        key = tuple(map(id, nodes))
        if key not in self._flat:
            self._flat[key] = self._flatten(nodes)
        return self._flat[key]

    def _flatten(self, nodes: tuple[Node, ...]) -> Flat:
        found: dict[int, Node] = {}
        choices: list[Choice] = []
        tags = NO_TAGS
        waiting = list(nodes[::-1])
        while waiting:
            node = waiting.pop()
            if id(node.raw) in found and isinstance(node.raw, dict):
                continue
            found[id(node.raw) if isinstance(node.raw, dict) else -len(found) - 1] = node
            tags |= inline_tags(node.raw)
            targets = [target for keyword in _REFERENCES if (target := self._target(node, keyword)) is not None]
            if targets and not node.resource.dialect.modern:
                found.pop(id(node.raw))
                found[id(node.raw)] = Node({}, node.pointer, node.resource, node.text)
                waiting += targets
                continue
            waiting += [*targets, *self._children(node, "allOf"), *self._dependent(node)][::-1]
            choices += self._conditional(node)
            choices += [
                Choice((id(node.raw), keyword), keyword == "oneOf", tuple(members))
                for keyword in ("anyOf", "oneOf")
                if (members := self._children(node, keyword))
            ]
        return Flat(tuple(found.values()), tags, tuple(choices))

    def child(self, node: Node, *steps: str | int) -> Node:
        """A schema inside a schema."""
        raw = node.raw
        for step in steps:
            raw = raw[step]
        key = (id(raw), id(node.resource)) if isinstance(raw, dict) else (id(node.raw), hash(steps))
        if key not in self._nodes:
            resource = self._resources.at(raw, node.resource)
            self._nodes[key] = Node(raw, (*node.pointer, *steps), resource, node.text)
        return self._nodes[key]

    def _children(self, node: Node, keyword: str) -> list[Node]:
        members = node.get(keyword)
        if not isinstance(members, list):
            return []
        return [self.child(node, keyword, index) for index in range(len(members))]

    def _conditional(self, node: Node) -> list[Choice]:
        """The choice between `then` and `else`, if a schema has one."""
        members = [keyword for keyword in ("then", "else") if isinstance(node.get(keyword), dict)]
        if not members or not isinstance(node.get("if"), dict | bool) or not node.resource.dialect.has_conditional:
            return []
        children = tuple(self.child(node, keyword) for keyword in members)
        return [Choice((id(node.raw), "if"), is_one=True, members=children, condition=self.child(node, "if"))]

    def _dependent(self, node: Node) -> list[Node]:
        """The schemas that apply if a property is there; tags in them select fields in any case."""
        found = []
        for keyword in ("dependentSchemas", "dependencies"):
            declared = node.get(keyword)
            if isinstance(declared, dict):
                found += [self.child(node, keyword, name) for name, raw in declared.items() if isinstance(raw, dict)]
        return found

    def _target(self, node: Node, keyword: str) -> Node | None:
        reference = node.get(keyword)
        if not isinstance(reference, str) or (keyword != "$ref" and not node.resource.dialect.modern):
            return None
        try:
            target = self._resources.resolve(reference, node.resource)
        except Unresolved as error:
            raise InvalidSchema(JSON, f"unresolved reference '{reference}': {error}") from None
        text = node.text
        address = reference.partition("#")[0]
        if not target.resource.foreign:
            text = _OWN_TEXT
        elif address:
            text = self._resources.dependency_name(address, node.resource)
        key = (id(target.raw), id(target.resource))
        if key not in self._nodes:
            self._nodes[key] = Node(target.raw, target.pointer, target.resource, text)
        return self._nodes[key]

    def chosen(self, choice: Choice, value: Any) -> tuple[Node, ...]:
        """The members of a choice that apply to a value: every valid one, or the first valid one of a `oneOf`.

        If none is valid, those that allow the value's type: encrypted text, for example, may break a `pattern`.
        """
        if choice.condition is not None:
            keyword = "then" if self._accepts(choice.condition, value) else "else"
            return tuple(member for member in choice.members if member.pointer[-1] == keyword)
        kinds = kinds_of(value)
        fitting = [member for member in choice.members if self.flat((member,)).types & kinds]
        if len(fitting) < 2:
            return tuple(fitting)
        valid = [member for member in fitting if self._accepts(member, value)]
        return tuple((valid[:1] if choice.is_one else valid) or fitting)

    def _accepts(self, node: Node, value: Any) -> bool:
        if isinstance(node.raw, bool):
            return node.raw
        key = id(node.raw)
        if key not in self._judges:
            self._judges[key] = self._judge(node)
        judge = self._judges[key]
        try:
            return judge is None or judge.is_valid(value)
        except ValueError:
            return True  # a value that is no JSON, such as a datetime, which the encoder may still accept

    def _judge(self, node: Node) -> Validator | None:
        """The validator of a schema; None if the library does not support it, and then it accepts every value."""
        if node.text is None:
            return None
        pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in node.pointer)
        dialect = dialect_of(self._raw)
        reference = {"$schema": dialect.url, "$ref": f"{node.text}#{pointer.replace('%', '%25')}"}
        own_text = Dependency(_OWN_TEXT, json_text.dumps(self._raw))
        try:
            return compiled(reference, (*self._dependencies, own_text), dialect=dialect, backtracks=BACKTRACKS)
        except ValueError:
            return None


def kinds_of(value: Any) -> frozenset[str]:
    """The types of JSON Schema that a Python value may have."""
    if isinstance(value, float):
        return _WHOLE if value.is_integer() else _FRACTION
    for python_type, kinds in _KINDS:
        if isinstance(value, python_type):
            return kinds
    return ALL_TYPES


_WHOLE, _FRACTION = frozenset({"integer", "number"}), frozenset({"number"})
#: In this order, because a boolean is an integer of Python.
_KINDS: tuple[tuple[Any, frozenset[str]], ...] = (
    (str, frozenset({"string"})),
    (type(None), frozenset({"null"})),
    (bool, frozenset({"boolean"})),
    (int, _WHOLE),
    (Mapping, frozenset({"object"})),
    (list | tuple, frozenset({"array"})),
)
