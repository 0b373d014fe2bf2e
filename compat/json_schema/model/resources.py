"""Resolves `$ref`: finds schema resources by address, in one text and in the schemas that it refers to by name.

Nothing is ever fetched: an address without a matching reference is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from compat.json import json_text
from compat.json_schema.model.dialects import Dialect, dialect_of
from compat.schema import Dependencies, Pointer
from compat.text_cache import TextCache

#: Keywords whose values are data, in which `$id` and `$anchor` mean nothing.
_DATA = frozenset({"enum", "const", "default", "examples"})
_METASCHEMAS = ("http://json-schema.org/", "https://json-schema.org/")
_MIRRORED = {"$defs": "definitions", "definitions": "$defs"}


class Unresolved(LookupError):
    """A `$ref` without a target; the argument is the reason."""


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A schema that other schemas can refer to by address: a whole text, or a part of it with its own `$id`.

    Attributes:
        uri: Its address, without fragment; empty if the text has none.
        raw: The schema as JSON.
        pointer: Its position in the text.
        dialect: Its draft.
        foreign: Whether its text is a referenced text instead of the compared one.
    """

    uri: str
    raw: Any
    pointer: Pointer
    dialect: Dialect
    foreign: bool


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a `$ref`: a schema, its position in its text, and its resource."""

    raw: Any
    pointer: Pointer
    resource: Resource


class Resources:
    """All resources that a schema can refer to.

    Args:
        raw: The schema.
        dependencies: The schemas that it refers to, by the names in its `$ref`s.
    """

    def __init__(self, raw: Any, dependencies: Dependencies = ()) -> None:
        self._by_uri: dict[str, Resource] = {}
        self._anchors: dict[tuple[str, str], Target] = {}
        self._starts: dict[int, Resource] = {}
        self.root = self._add(_declare_all(raw, "", foreign=False))
        self._texts: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for dependency in dependencies:
            self._texts.setdefault(dependency.name, dependency.text)
            for spelling in self._spellings(dependency.name):
                self._names.setdefault(spelling, dependency.name)

    def _spellings(self, name: str) -> tuple[str, str, str]:
        """The names by which a `$ref` may name a dependency: plain, with `./`, or relative to the schema's `$id`."""
        return name, f"./{name}", _join(self.root.uri, name)

    @property
    def count(self) -> int:
        """The number of resources so far: the text, its parts with an `$id`, and the dependencies that were needed."""
        return len({id(resource) for resource in self._by_uri.values()})

    def at(self, raw: Any, enclosing: Resource) -> Resource:
        """The resource of a schema: the one that starts at it, or the enclosing one."""
        return self._starts.get(id(raw), enclosing)

    def resolve(self, reference: str, base: Resource) -> Target:
        """The target of a `$ref` within a resource.

        Raises:
            Unresolved: No resource has that address, or there is no schema at it.
        """
        address, _, fragment = reference.partition("#")
        resource = self._find(address, base) if address else base
        if not fragment:
            return Target(resource.raw, resource.pointer, resource)
        fragment = unquote(fragment)
        if not fragment.startswith("/"):
            target = self._anchors.get((resource.uri, fragment))
            if target is None or target.resource is not resource:
                raise Unresolved(f"there is no anchor '{fragment}' in the schema that '{reference}' names")
            return target
        return self._walk(resource, fragment, reference)

    def dependency_name(self, address: str, base: Resource) -> str | None:
        """The name of the dependency that an address in a resource means; None if it means another schema.

        Raises:
            Unresolved: It is not an address.
        """
        spellings = self._spellings_of(address, base)
        return next((self._names[spelling] for spelling in spellings if spelling in self._names), None)

    @staticmethod
    def _spellings_of(address: str, base: Resource) -> tuple[str, ...]:
        return _join(base.uri, address), address, address.removeprefix("./"), f"./{address}"

    def _find(self, address: str, base: Resource) -> Resource:
        spellings = self._spellings_of(address, base)
        for spelling in spellings:
            if spelling in self._by_uri:
                return self._by_uri[spelling]
            if spelling in self._names:
                return self._dependency(self._names[spelling])
        if spellings[0].startswith(_METASCHEMAS):
            return self._metaschema(spellings[0])
        raise Unresolved(f"no reference is named '{address}', and schemas are never fetched from the network")

    def _dependency(self, name: str) -> Resource:
        try:
            declared = _DECLARED.get(name, self._texts[name])
        except json_text.InvalidJson as error:
            raise Unresolved(f"the referenced schema '{name}' is not JSON: {error}") from None
        resource = self._add(declared)
        for spelling in self._spellings(name):
            if self._names[spelling] == name:
                self._by_uri.setdefault(spelling, resource)
        return resource

    def _metaschema(self, address: str) -> Resource:
        # Import here: the package is slow to load, and few schemas refer to a metaschema.
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # noqa: PLC0415

        try:
            raw = REGISTRY.contents(address)
        except LookupError:
            raise Unresolved(f"there is no official metaschema '{address}'") from None
        return self._add(_declare_all(raw, address, foreign=True))

    def _walk(self, resource: Resource, fragment: str, reference: str) -> Target:
        raw, pointer, current = resource.raw, resource.pointer, resource
        for escaped in fragment[1:].split("/"):
            name = escaped.replace("~1", "/").replace("~0", "~")
            step = self._step(raw, name, current)
            if step is None:
                raise Unresolved(f"there is nothing at '{reference}'")
            raw, pointer = raw[step], (*pointer, step)
            current = self.at(raw, current)
        if not isinstance(raw, dict | bool):
            raise Unresolved(f"there is no schema at '{reference}'")
        return Target(raw, pointer, current)

    @staticmethod
    def _step(raw: Any, name: str, resource: Resource) -> str | int | None:
        if isinstance(raw, dict):
            if name in raw:
                return name
            # The reference accepts both keywords for definitions in newer drafts.
            mirrored = _MIRRORED.get(name) if resource.dialect.modern else None
            return mirrored if mirrored in raw else None
        if isinstance(raw, list) and name.isascii() and name.isdigit() and len(name) < 7 and int(name) < len(raw):
            return int(name)
        return None

    def _add(self, declared: _Declared) -> Resource:
        """Add the resources and anchors of a text; returns the outermost resource."""
        for resource in declared.resources:
            self._by_uri.setdefault(resource.uri, resource)
        self._by_uri.setdefault(declared.uri, declared.root)
        for key, target in declared.anchors.items():
            self._anchors.setdefault(key, target)
        self._starts.update(declared.starts)
        return declared.root


@dataclass(frozen=True, slots=True, eq=False)
class _Declared:
    """The resources and anchors of one text.

    Attributes:
        uri: Its address.
        root: The outermost resource.
        resources: The named resources, from the outermost to the innermost.
        anchors: Schemas by the address of their resource and the name of the anchor.
        starts: Resources by the identity of the schema at which they start.
    """

    uri: str
    root: Resource
    resources: list[Resource]
    anchors: dict[tuple[str, str], Target]
    starts: dict[int, Resource]


def _declare_all(raw: Any, uri: str, *, foreign: bool) -> _Declared:
    outermost = Resource(uri, raw, (), dialect_of(raw), foreign)
    declared = _Declared(uri, outermost, [], {}, {})
    root: Resource | None = None
    todo: list[tuple[Any, Pointer, Resource]] = [(raw, (), outermost)]
    while todo:
        value, pointer, enclosing = todo.pop()
        here = _declare(value, pointer, enclosing, declared) if isinstance(value, dict) else enclosing
        root = root or here
        todo.extend((child, (*pointer, step), here) for step, child in _children(value))
    return replace(declared, root=root or outermost)


def _declare(raw: dict[str, Any], pointer: Pointer, enclosing: Resource, declared: _Declared) -> Resource:
    here = enclosing
    dialect = dialect_of(raw) if isinstance(raw.get("$schema"), str) else enclosing.dialect
    name = raw.get(dialect.id_keyword)
    # In older drafts, `$ref` hides the keywords beside it.
    if isinstance(name, str) and (dialect.modern or not pointer or "$ref" not in raw):
        if name.startswith("#"):
            declared.anchors.setdefault((here.uri, name[1:]), Target(raw, pointer, here))
        else:
            here = Resource(_defragmented(_join(here.uri, name)), raw, pointer, dialect, here.foreign)
            declared.resources.append(here)
    elif not pointer or dialect is not enclosing.dialect:
        here = Resource(here.uri, raw, pointer, dialect, here.foreign)
    if here is not enclosing:
        declared.starts[id(raw)] = here
    for keyword in ("$anchor", "$dynamicAnchor"):
        if dialect.modern and isinstance(raw.get(keyword), str):
            declared.anchors.setdefault((here.uri, raw[keyword]), Target(raw, pointer, here))
    return here


#: The resources of referenced texts. Their JSON takes about ten times the memory of the text.
_DECLARED = TextCache(
    lambda name, text: _declare_all(json_text.loads(text, decimals=True), _defragmented(name), foreign=True), 2_000_000
)


def _children(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        for key, child in value.items():
            if key not in _DATA and isinstance(child, dict | list):
                yield key, child
    elif isinstance(value, list):
        for index, child in enumerate(value):
            if isinstance(child, dict | list):
                yield index, child


#: A complete address, to which no base is added.
_WHOLE_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.:@_-]+(?:/[a-zA-Z0-9._~%/@:$&*+,=-]*)?")


def _join(base: str, address: str) -> str:
    if not base or _WHOLE_ADDRESS.fullmatch(address):
        return address
    try:
        return urljoin(base, address)
    except ValueError:
        raise Unresolved(f"'{address}' is not an address") from None


def _defragmented(uri: str) -> str:
    try:
        return urldefrag(uri).url
    except ValueError:
        raise Unresolved(f"'{uri}' is not an address") from None
