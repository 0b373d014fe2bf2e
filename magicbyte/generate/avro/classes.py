"""The classes of Avro schemas, one module for each namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.avro import nodes
from compat.avro.schema import parse
from compat.avro.text.printing import print_node
from compat.schema import AVRO, InvalidSchema, SchemaText
from magicbyte.generate.avro.defaults import Defaults
from magicbyte.generate.avro.types import Types
from magicbyte.generate.expressions import ClassName
from magicbyte.generate.model import (
    Class,
    EnumClass,
    Field,
    FixedClass,
    Module,
    RecordClass,
    Source,
    in_class,
)
from magicbyte.generate.names import class_name, distinct, identifier, member
from magicbyte.kit.failure import Failure
from serdes.codec.forms.records import kind_of
from serdes.codec.schema import Graph


class AvroClasses:
    """The named types of all sources, and their modules."""

    def __init__(self) -> None:
        #: By full name: the type, the key of its module, and its source's origin.
        self._types: dict[str, tuple[nodes.Named, str, str]] = {}
        self._modules: dict[str, Module] = {}
        self._classes: dict[str, ClassName] = {}
        self._names: dict[str, dict[str, str]] = {}
        self._graph = Graph()
        self._types_of = Types(self._classes.__getitem__)

    def add(self, source: Source) -> None:
        """Add the types of a source, those of its references included.

        Raises:
            Failure: The schema is invalid, or defines a name in another way than an earlier one.
        """
        before: list[SchemaText] = []
        try:
            for dependency in source.dependencies:
                schema = SchemaText(AVRO, dependency.text)
                needed = source.dependencies[: len(before)]
                before.append(schema)
                stem = dependency.name.rpartition("/")[2].removesuffix(".avsc")
                self._add(parse(schema, needed, strict=False).root, stem, source.origin)
            root = parse(SchemaText(AVRO, source.text), source.dependencies, strict=False).root
        except InvalidSchema as error:
            raise Failure(f"{source.origin}: {error.detail}") from None
        if not self._add(root, source.stem, source.origin) and source.is_chosen:
            raise Failure(f"{source.origin}: the schema is no record and has none in it, so there is no class to make")

    def modules(self) -> list[Module]:
        """The modules, with their classes sorted by name: enumerations and fixed types before records."""
        for key, module in self._modules.items():
            owned = sorted(name for name, (_, owner, _) in self._types.items() if owner == key)
            python = distinct(owned, lambda name: class_name(name.rpartition(".")[2]))
            for name in owned:
                self._classes[name] = ClassName(module.key, python[name])
        for name, (node, _, _) in self._types.items():
            self._names[name] = _inner_names(node)
        for name, (node, _, _) in self._types.items():
            # Types decide which fields are renamed, and defaults of other records need the new names.
            if isinstance(node, nodes.Record):
                fields = in_class([self._field(name, inner) for inner in node.fields], self._classes[name].module)
                self._names[name] = {inner.wire: inner.name for inner in fields}
        defaults = Defaults(self._types_of, self._names)
        for name, (node, key, _) in sorted(self._types.items(), key=lambda item: (_rank(item[1][0]), item[0])):
            self._modules[key].classes.append(self._class(name, node, defaults))
        return list(self._modules.values())

    def _add(self, root: nodes.Node, stem: str, origin: str) -> bool:
        named = list(_named_in(root, self._graph))
        for node in named:
            name = node.name.full
            known = self._types.get(name)
            if known is None:
                key = f"avro:{node.name.space}" if node.name.space else f"avro file:{stem}"
                self._types[name] = (node, key, origin)
                title = f"namespace {node.name.space}" if node.name.space else f"schema {stem}"
                self._modules.setdefault(key, Module(key, AVRO, title, node.name.space or stem))
            elif known[0] is not node and print_node(known[0]) != print_node(node):
                raise Failure(
                    f"{origin}: {name} differs from the one of {known[2]}; generate them into different folders"
                )
            if known is None and origin not in (origins := self._modules[self._types[name][1]].origins):
                origins.append(origin)
        return bool(named)

    def _class(self, name: str, node: nodes.Named, defaults: Defaults) -> Class:
        cls = self._classes[name]
        aliases = tuple(alias.full for alias in node.aliases)
        schema = print_node(node)
        if isinstance(node, nodes.Fixed):
            return FixedClass(
                name=cls.name, full_name=name, aliases=aliases, doc=node.doc, schema=schema, size=node.size
            )
        if isinstance(node, nodes.Enum):
            members = tuple((self._names[name][symbol], symbol) for symbol in node.symbols)
            return EnumClass(
                name=cls.name,
                full_name=name,
                aliases=aliases,
                doc=node.doc,
                schema=schema,
                members=members,
                default=node.default,
            )
        fields = tuple(
            Field(
                field.name,
                self._names[name][field.name],
                self._types_of.of(inner.node),
                defaults.of(inner, cls.module),
                field.doc,
            )
            for field, inner in zip(node.fields, self._graph.node(node).fields, strict=True)
        )
        return RecordClass(name=cls.name, full_name=name, aliases=aliases, doc=node.doc, schema=schema, fields=fields)

    def _field(self, record: str, field: nodes.Field) -> Field:
        return Field(field.name, self._names[record][field.name], self._types_of.of(self._graph.node(field.type)))


def _named_in(root: nodes.Node, graph: Graph) -> Iterator[nodes.Named]:
    """The named types that a type reaches and that get a class, each once."""
    for node in nodes.reachable(root):
        if isinstance(node, nodes.NAMED) and kind_of(graph.node(node)).python is None:
            yield node


def _inner_names(node: nodes.Named) -> dict[str, str]:
    if isinstance(node, nodes.Enum):
        return distinct(node.symbols, member)
    return distinct(node.by_name, identifier) if isinstance(node, nodes.Record) else {}


def _rank(node: nodes.Named) -> int:
    return 1 if isinstance(node, nodes.Record) else 0


def classes_of(sources: Iterable[Source]) -> list[Module]:
    """The modules of Avro sources.

    Raises:
        Failure: A schema is invalid, or two define one name differently.
    """
    classes = AvroClasses()
    for source in sources:
        classes.add(source)
    return classes.modules()
