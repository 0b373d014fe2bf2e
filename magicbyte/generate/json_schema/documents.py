"""The documents of JSON Schemas, and the schemas inside them, by which a type is known from any of its references."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compat.json import json_text
from compat.json_schema.model.resources import Resource, Resources, Unresolved
from compat.schema import Dependencies, Pointer
from magicbyte.generate.model import Source
from magicbyte.kit.failure import Failure


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a JSON Schema; two texts that are equal are one document.

    Attributes:
        key: Its key.
        stem: The name of its module.
    """

    key: str
    stem: str


@dataclass(frozen=True, slots=True)
class SchemaLocation:
    """A schema in a document.

    Attributes:
        document: The document.
        pointer: Its position.
        raw: The schema as JSON.
        resource: The resource that it is in.
    """

    document: Document
    pointer: Pointer
    raw: Any
    resource: Resource

    @property
    def key(self) -> tuple[str, Pointer]:
        """The key that identifies a schema: its document's key, and its pointer."""
        return self.document.key, self.pointer

    @property
    def keywords(self) -> Mapping[str, Any]:
        """The schema's keywords; none for a boolean."""
        return self.raw if isinstance(self.raw, dict) else {}


class Documents:
    """A source's document and those that it refers to.

    Args:
        source: The source.
        stems: The stems of all sources by their texts: a reference to one of them leads to its module.
    """

    def __init__(self, source: Source, stems: Mapping[str, str]) -> None:
        self._source = source
        self._stems = stems
        self._dependencies: Dependencies = source.dependencies
        try:
            raw = json_text.loads(source.text, decimals=True)
            self._resources = Resources(raw, source.dependencies)
        except (json_text.InvalidJson, Unresolved) as error:
            raise Failure(f"{source.origin}: {error}") from None
        document = _document(source.text, source.stem)
        self.root = SchemaLocation(document, (), raw, self._resources.root)

    def inside(self, place: SchemaLocation, *steps: str | int) -> SchemaLocation:
        """A schema inside another one."""
        raw = place.raw
        for step in steps:
            raw = raw[step]
        return SchemaLocation(place.document, (*place.pointer, *steps), raw, self._resources.at(raw, place.resource))

    def target(self, place: SchemaLocation, reference: str) -> SchemaLocation:
        """The schema that a `$ref` at a place names.

        Raises:
            Failure: There is none.
        """
        address = reference.partition("#")[0]
        try:
            target = self._resources.resolve(reference, place.resource)
            name = self._resources.dependency_name(address, place.resource) if address else None
        except Unresolved as error:
            raise Failure(f"{self._source.origin}: {error}") from None
        document = place.document
        if name is not None:
            text = next(dependency.text for dependency in self._dependencies if dependency.name == name)
            stem = name.rpartition("/")[2].partition(".")[0] or "schema"
            document = _document(text, self._stems.get(text, stem))
        elif not target.resource.foreign:
            document = self.root.document
        elif "//json-schema.org/" in target.resource.uri:
            # An official metaschema, which needs no reference.
            document = Document(target.resource.uri, "metaschema")
        return SchemaLocation(document, target.pointer, target.raw, target.resource)

    def members(self, place: SchemaLocation, keyword: str) -> Iterator[SchemaLocation]:
        """The schemas in a keyword with a list of them."""
        listed = place.keywords.get(keyword)
        for index, raw in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(raw, dict | bool):
                yield self.inside(place, keyword, index)

    def named(self, place: SchemaLocation, keyword: str) -> Iterator[tuple[str, SchemaLocation]]:
        """The schemas in a keyword with an object of them."""
        held = place.keywords.get(keyword)
        for name, raw in (held if isinstance(held, dict) else {}).items():
            if isinstance(raw, dict | bool):
                yield name, self.inside(place, keyword, name)


def _document(text: str, stem: str) -> Document:
    return Document(hashlib.sha256(text.encode()).hexdigest(), stem)
