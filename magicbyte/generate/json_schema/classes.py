"""The classes of JSON Schemas, one module for each document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from compat.json_schema.schema import parse
from compat.schema import JSON, InvalidSchema, SchemaText
from magicbyte.generate.expressions import NONE, ClassName, Either, Expression, Import, Subscript, either
from magicbyte.generate.json_schema.defaults import constant, default_of
from magicbyte.generate.json_schema.documents import Documents, SchemaLocation
from magicbyte.generate.json_schema.places import (
    DEFINITIONS,
    doc_of,
    followed,
    is_definition,
    member_hint,
    name_of,
    schema_text,
    title_of,
)
from magicbyte.generate.json_schema.shape import Shape, shape_of
from magicbyte.generate.model import (
    RUNTIME,
    Class,
    EnumClass,
    Field,
    Module,
    RecordClass,
    Source,
    in_class,
    literal_type,
    made_by,
    text,
)
from magicbyte.generate.names import class_name, distinct, identifier, member
from magicbyte.kit.failure import Failure

_ANY = Import("typing", "Any")
_TEXT = Import("builtins", "str")
_LIST, _DICT = Import("builtins", "list"), Import("builtins", "dict")
_PLAIN: dict[str, Expression] = {
    "string": _TEXT,
    "integer": Import("builtins", "int"),
    "number": Import("builtins", "float"),
    "boolean": Import("builtins", "bool"),
    "null": NONE,
}
_UNSET_TYPE, _UNSET = Import(RUNTIME, "Unset"), Import(RUNTIME, "UNSET")
_Key = tuple[Any, ...]


class JsonClasses:
    """The classes of all sources, and their modules."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._stems = {source.text: source.stem for source in sources}
        self._modules: dict[str, Module] = {}
        #: The classes by the keys of the schemas that they are made of, and by name.
        self._names: dict[_Key, ClassName] = {}
        self._made: dict[ClassName, Class] = {}
        self._origin = ""

    def add(self, source: Source) -> None:
        """Add the classes of a source and of the schemas that it refers to.

        Raises:
            Failure: The schema is invalid, or declares no object.
        """
        try:
            parse(SchemaText(JSON, source.text), source.dependencies, strict=False)
        except InvalidSchema as error:
            raise Failure(f"{source.origin}: {error.detail}") from None
        documents, self._origin = Documents(source, self._stems), source.origin
        root, module = documents.root, self._module(documents.root)
        self._type(documents, [root], name_of(root))
        for keyword in DEFINITIONS:
            for name, inner in documents.named(root, keyword):
                self._type(documents, [inner], name)
        if not module.classes and source.is_chosen:
            raise Failure(f"{source.origin}: the schema declares no object, so there is no class to make")
        own = self._names.get((root.key,))
        if own is not None and source.references:
            old = self._made[own]
            self._made[own] = replace(old, references=source.references)
            module.classes[module.classes.index(old)] = self._made[own]

    def modules(self) -> list[Module]:
        """The modules, their classes sorted by name: enumerations before records."""
        for module in self._modules.values():
            module.classes.sort(key=lambda cls: (isinstance(cls, RecordClass), cls.name))
        return [module for module in self._modules.values() if module.classes]

    def _module(self, place: SchemaLocation) -> Module:
        key, stem = f"json:{place.document.key}", place.document.stem
        return self._modules.setdefault(key, Module(key, JSON, f"schema {stem}", stem, origins=[self._origin]))

    def _type(self, documents: Documents, places: Sequence[SchemaLocation], hint: str) -> Expression:
        """The type of values for which some schemas hold at once."""
        if len(places) == 1:
            place, hint = followed(documents, places[0], hint)
            places = [place]
            hint = title_of(place) or hint if not is_definition(place) else hint
        if (known := self._names.get(_key(places))) is not None:
            return known
        shape = shape_of(documents, *places)
        if shape.values is not None:
            return self._values(documents, shape.values, places, hint)
        if shape.is_object:
            return self._objects(documents, shape, places, hint)
        for members in shape.alternatives:
            if any(_says_a_type(shape_of(documents, inner)) for inner in members):
                return either(
                    [
                        self._type(documents, [inner], f"{hint} {member_hint(inner, index)}")
                        for index, inner in enumerate(members, 1)
                    ]
                )
        return self._kinds(documents, shape, hint)

    def _kinds(self, documents: Documents, shape: Shape, hint: str) -> Expression:
        if shape.kinds is None:
            return _ANY
        order = ("object", "array", *_PLAIN)
        return either([self._kind(documents, shape, kind, hint) for kind in order if kind in shape.kinds])

    def _kind(self, documents: Documents, shape: Shape, kind: str, hint: str) -> Expression:
        if kind == "array":
            items = [self._type(documents, [inner], f"{hint} item") for inner in shape.items]
            return Subscript(_LIST, (either(items) if items else _ANY,))
        if kind == "object":
            return Subscript(_DICT, (_TEXT, self._rest(documents, shape, hint)))
        form = shape.keyword("format")
        if kind == "string" and isinstance(form, str) and form:
            return Subscript(Import("typing", "Annotated"), (_TEXT, text(form)))
        return _PLAIN[kind]

    def _rest(self, documents: Documents, shape: Shape, hint: str) -> Expression:
        types = [self._type(documents, [inner], f"{hint} value") for inner in shape.rest]
        return either(types) if types else _ANY

    def _values(
        self, documents: Documents, values: Sequence[Any], places: Sequence[SchemaLocation], hint: str
    ) -> Expression:
        if len(places) == 1 and is_definition(places[0]) and values and all(isinstance(value, str) for value in values):
            name = self._new(places, hint)
            members = tuple((python, symbol) for symbol, python in distinct(values, member).items())
            doc, schema = doc_of(places), schema_text(documents, places)
            self._add(name, EnumClass(name=name.name, full_name=name.name, doc=doc, schema=schema, members=members))
            return name
        constants = [constant(value) for value in values if isinstance(value, str | int)]
        others = [_PLAIN.get(_kind_of(value), _ANY) for value in values if not isinstance(value, str | int)]
        members_of_union = [*([literal_type(*dict.fromkeys(constants))] if constants else []), *others]
        return either(members_of_union) if members_of_union else Import("typing", "Never")

    def _objects(self, documents: Documents, shape: Shape, places: Sequence[SchemaLocation], hint: str) -> Expression:
        """A class, or one for each member of `oneOf` or `anyOf` that has properties of its own."""
        others = [
            self._kind(documents, shape, kind, hint) for kind in ("array", *_PLAIN) if kind in (shape.kinds or ())
        ]
        for members in shape.alternatives:
            if any(shape_of(documents, inner).properties for inner in members):
                variants = [
                    self._record(documents, [*places, inner], f"{hint} {member_hint(inner, index)}")
                    for index, inner in enumerate(members, 1)
                ]
                return either([*variants, *others])
        return either([self._record(documents, places, hint), *others])

    def _record(self, documents: Documents, places: Sequence[SchemaLocation], hint: str) -> Expression:
        if (known := self._names.get(_key(places))) is not None:
            return known
        name, shape = self._new(places, hint), shape_of(documents, *places)
        wires = [*dict.fromkeys([*shape.properties, *shape.required])]
        python = distinct(wires, identifier)
        fields = in_class([self._field(documents, shape, wire, python[wire], name) for wire in wires], name.module)
        extra = self._extra(documents, shape, name.name, {member.name for member in fields}) if shape.has_rest else None
        doc, schema = doc_of(places), schema_text(documents, places)
        self._add(
            name,
            RecordClass(name=name.name, full_name=name.name, doc=doc, schema=schema, fields=fields, extra=extra),
        )
        return name

    def _extra(self, documents: Documents, shape: Shape, hint: str, taken: set[str]) -> Field:
        name = "extra"
        while name in taken:
            name += "_"
        kind = Subscript(_DICT, (_TEXT, self._rest(documents, shape, hint)))
        factory = made_by(_DICT)
        return Field("", name, kind, factory, "The properties that the schema does not name.")

    def _field(self, documents: Documents, shape: Shape, wire: str, name: str, owner: ClassName) -> Field:
        places = shape.properties.get(wire, [])
        kind = self._type(documents, places, f"{owner.name} {wire}") if places else _ANY
        notes = [place.keywords for place in places]
        doc = next((given["description"] for given in notes if isinstance(given.get("description"), str)), None)
        if wire in shape.required:
            return Field(wire, name, kind, None, doc)
        given_default = next((given["default"] for given in notes if "default" in given), _ANY)
        default = None if given_default is _ANY else default_of(given_default, kind, self._made, owner.module)
        if default is not None:
            return Field(wire, name, kind, default, doc)
        if kind in (NONE, _ANY) or (isinstance(kind, Either) and NONE in kind.members):
            return Field(wire, name, either([kind, _UNSET_TYPE]), _UNSET, doc)
        return Field(wire, name, either([kind, NONE]), NONE, doc)

    def _new(self, places: Sequence[SchemaLocation], hint: str) -> ClassName:
        """The name of a new class. It is known before the fields are, which may be of its own type."""
        module = self._module(places[0])
        taken = {cls.name for cls in self._names.values() if cls.module == module.key}
        name = class_name(hint)
        while name in taken:
            name += "_"
        made = self._names[_key(places)] = ClassName(module.key, name)
        return made

    def _add(self, name: ClassName, cls: Class) -> None:
        self._made[name] = cls
        self._modules[name.module].classes.append(cls)


def classes_of(sources: Sequence[Source]) -> list[Module]:
    """The modules of JSON Schema sources.

    Raises:
        Failure: A schema is invalid, or declares no object.
    """
    classes = JsonClasses(sources)
    for source in sources:
        classes.add(source)
    return classes.modules()


def _key(places: Sequence[SchemaLocation]) -> _Key:
    return tuple(place.key for place in places)


def _says_a_type(shape: Shape) -> bool:
    return shape.kinds is not None or shape.values is not None or bool(shape.properties or shape.alternatives)


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    return "number" if isinstance(value, Decimal | float) else ""
