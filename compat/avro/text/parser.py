"""Parses Avro schemas as strictly as the Avro library for Java (1.11, and 1.12 for redefinitions)."""

from __future__ import annotations

from itertools import permutations
from operator import attrgetter
from typing import Any

from compat.avro.nodes import (
    NO_DEFAULT,
    PRIMITIVE_TYPES,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Name,
    Named,
    Node,
    Primitive,
    Record,
    Union,
    branch_name,
    type_name,
)
from compat.avro.text.attributes import NO_PROPS, Refused, alias_texts, name_fault, pointer_to, props_of, text_of
from compat.avro.text.defaults import double_default, is_default
from compat.avro.text.printing import print_node
from compat.json.json_text import InvalidJson, dumps, loads, locate
from compat.schema import AVRO, InvalidSchema

_SCHEMA_RESERVED = frozenset(
    {"doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases"}
)
_ENUM_RESERVED = _SCHEMA_RESERVED | {"default"}
#: The attributes of most fields.
_PLAIN_FIELD = frozenset({"default", "doc", "name", "type"})
_FIELD_RESERVED = _PLAIN_FIELD | {"order", "aliases"}
_TYPE = attrgetter("type")
_ORDERS = frozenset({"ascending", "descending", "ignore"})
#: The types and the text of each union of two primitive types.
_PAIRS = {pair: (frozenset(pair), f'["{pair[0]}","{pair[1]}"]') for pair in permutations(PRIMITIVE_TYPES, 2)}
#: Java cannot allocate longer arrays.
_MAX_FIXED = 2**31 - 9


class Parser:
    """Parses texts one after the other; a text may use the names that earlier texts defined.

    Attributes:
        names: The named types parsed so far, by full name.
    """

    def __init__(self) -> None:
        self.names: dict[str, Named] = {}
        self._strict = False

    def parse(self, text: str, *, strict: bool) -> Node:
        """Parse a text.

        Args:
            text: The schema.
            strict: Whether to check names and defaults, as for new schemas.

        Raises:
            InvalidSchema: The text is not an Avro schema.
        """
        if not text or text.isspace():
            raise InvalidSchema(AVRO, "Empty schema")
        try:
            value = loads(text, comments=True)
        except InvalidJson as error:
            raise InvalidSchema(AVRO, str(error), error.position) from None
        self._strict = strict
        try:
            return self._node(value, None)
        except Refused as refused:
            position = locate(text, pointer_to(value, refused.at))
            raise InvalidSchema(AVRO, str(refused), position) from None

    def _node(self, value: Any, space: str | None) -> Node:
        shape = value.__class__
        if shape is str:
            return Primitive(value, NO_PROPS) if value in PRIMITIVE_TYPES else self._find(value, space)
        if shape is dict:
            kind = value.get("type")
            if kind.__class__ is not str:
                raise Refused(f"No type: {dumps(value)}", value)
            if kind in PRIMITIVE_TYPES:
                return Primitive(kind, props_of(value, _SCHEMA_RESERVED))
            build = _BUILDERS.get(kind)
            return self._find(kind, space, value) if build is None else build(self, value, space)
        if shape is list:
            return self._union(value, space)
        raise Refused(f"Schema not yet supported: {dumps(value)}", value)

    def _find(self, name: str, space: str | None, at: Any = None) -> Node:
        node = self._named(name, space)
        if node is not None:
            return node
        raise Refused(f"Undefined schema: {Name.of(name, space).full}", at)

    def _named(self, name: str, space: str | None) -> Node | None:
        # A plain name is looked up in the enclosing namespace first, then without a namespace.
        return self.names.get(Name.of(name, space).full) or self.names.get(name)

    def _union(self, value: list[Any], space: str | None) -> Union:
        if len(value) == 2 and value[0].__class__ is value[1].__class__ is str:
            pair = _PAIRS.get((value[0], value[1]))
            if pair is not None:
                return Union((Primitive(value[0], NO_PROPS), Primitive(value[1], NO_PROPS)), *pair)
        branches: dict[str, Node] = {}
        branch: Node
        for element in value:
            if element.__class__ is str and element in PRIMITIVE_TYPES:
                name = element
                branch = Primitive(element, NO_PROPS)
            else:
                branch = self._node(element, space)
                name = branch_name(branch)
            if name in branches:
                raise Refused(f"Duplicate in union:{name}", value)
            branches[name] = branch
        union = Union(tuple(branches.values()), frozenset(map(_TYPE, branches.values())))
        if "union" in branches:
            raise Refused(f"Nested union: {print_node(union)}", value)
        return union

    def _array(self, value: dict[str, Any], space: str | None) -> Array:
        if "items" not in value:
            raise Refused(f"Array has no items type: {dumps(value)}", value)
        return Array(self._node(value["items"], space), props_of(value, _SCHEMA_RESERVED))

    def _map(self, value: dict[str, Any], space: str | None) -> Map:
        if "values" not in value:
            raise Refused(f"Map has no values type: {dumps(value)}", value)
        return Map(self._node(value["values"], space), props_of(value, _SCHEMA_RESERVED))

    def _fixed(self, value: dict[str, Any], space: str | None) -> Named:
        name = self._name(value, space)
        size = value.get("size")
        if size.__class__ is not int or size >= 2**31:
            raise Refused(f"Invalid or no size: {dumps(value)}", value)
        if size < 0:
            raise Refused(f"Malformed data. Length is negative: {size}", value)
        if size > _MAX_FIXED:
            raise Refused(f"Cannot read arrays longer than {_MAX_FIXED} bytes", value)
        aliases = self._aliases(value, name)
        return self._define(Fixed(name, size, text_of(value, "doc"), aliases, props_of(value, _SCHEMA_RESERVED)), value)

    def _enum(self, value: dict[str, Any], space: str | None) -> Named:
        name = self._name(value, space)
        symbols = value.get("symbols")
        if symbols.__class__ is not list:
            raise Refused(f"Enum has no symbols: {dumps(value)}", value)
        seen = set()
        for symbol in symbols:
            if symbol.__class__ is not str:
                raise Refused("Null name", value)
            self._check_name(symbol, value)
            if symbol in seen:
                raise Refused(f"Duplicate enum symbol: {symbol}", value)
            seen.add(symbol)
        default = text_of(value, "default")
        if default is not None and default not in seen:
            listed = ", ".join(symbols)
            raise Refused(f"The Enum Default: {default} is not in the enum symbol set: [{listed}]", value)
        aliases = self._aliases(value, name)
        props = props_of(value, _ENUM_RESERVED)
        return self._define(Enum(name, tuple(symbols), default, text_of(value, "doc"), aliases, props), value)

    def _record(self, value: dict[str, Any], space: str | None) -> Named:
        name = self._name(value, space)
        members = value.get("fields")
        if members.__class__ is not list:
            raise Refused(f"Record has no fields: {dumps(value)}", value)
        record = Record(
            name,
            value["type"] == "error",
            text_of(value, "doc"),
            self._aliases(value, name),
            props_of(value, _SCHEMA_RESERVED),
        )
        # The fields may be of this type. If the name is already defined, the definitions must be equal.
        self.names.setdefault(name.full, record)
        fields: dict[str, Field] = {}
        space = name.space
        for member in members:
            new = self._field(member, space)
            if new.name in fields:
                new_text = f"{new.name} type:{type_name(new.type)} pos:{len(fields)}"
                old = fields[new.name]
                old_text = f"{old.name} type:{type_name(old.type)} pos:{list(fields).index(new.name)}"
                raise Refused(f"Duplicate field {new.name} in record {name.full}: {new_text} and {old_text}.", member)
            fields[new.name] = new
        record.complete(fields)
        return self._define(record, value)

    def _field(self, value: Any, space: str | None) -> Field:
        if value.__class__ is not dict or (name := value.get("name")).__class__ is not str:
            raise Refused(f"No field name: {dumps(value)}", value)
        kind = value.get("type")
        node = self._union(kind, space) if kind.__class__ is list else self._field_type(value, space)
        if self._strict and (why := name_fault(name)):
            raise Refused(why, value)
        is_plain = _PLAIN_FIELD.issuperset(value)
        order = "ascending" if is_plain else _order_of(value, name)
        default = self._default(value, name, node) if "default" in value else NO_DEFAULT
        aliases = () if is_plain else alias_texts(value)
        props = NO_PROPS if is_plain else props_of(value, _FIELD_RESERVED)
        return Field(name, node, default, order, text_of(value, "doc"), aliases, props)

    def _field_type(self, value: dict[str, Any], space: str | None) -> Node:
        if "type" not in value:
            raise Refused(f"No field type: {dumps(value)}", value)
        type_text = value["type"]
        if type_text.__class__ is not str or type_text in PRIMITIVE_TYPES:
            return self._node(type_text, space)
        node = self._named(type_text, space)
        if node is None:
            raise Refused(f"Undefined schema: {Name.of(type_text, space).full}", value)
        return node

    def _default(self, value: dict[str, Any], name: str, node: Node) -> Any:
        default = value["default"]
        if default.__class__ is str and node.type in ("float", "double"):
            default = double_default(default)
            if default is None:
                raise Refused(f"For input string: {dumps(value['default'])}", value)
        if self._strict and not is_default(node, default):
            raise Refused(f"Invalid default for field {name}: {dumps(default)} not a {print_node(node)}", value)
        return default

    def _define(self, node: Named, at: dict[str, Any]) -> Named:
        """The type under its name; an earlier definition if there is an equal one."""
        defined = self.names.setdefault(node.name.full, node)
        is_open = isinstance(defined, Record) and not defined.is_complete
        if defined is not node and (is_open or _definition(defined) != _definition(node)):
            raise Refused(f"Can't redefine: {node.name.full}", at)
        return defined

    def _name(self, value: dict[str, Any], space: str | None) -> Name:
        text = value.get("name")
        if text.__class__ is not str:
            raise Refused(f"No name in schema: {dumps(value)}", value)
        own_namespace = text_of(value, "namespace")
        name = Name.of(text, space if own_namespace is None else own_namespace)
        self._check_name(name.name, value)
        if self._strict and name.space is not None:
            for part in name.space.split("."):
                if why := name_fault(part):
                    raise Refused(f'Namespace part "{part}" is invalid: {why}', value)
        if name.full in PRIMITIVE_TYPES:
            raise Refused(f"Schemas may not be named after primitives: {name.full}", value)
        return name

    def _aliases(self, value: dict[str, Any], name: Name) -> tuple[Name, ...]:
        if "aliases" not in value:
            return ()
        aliases = tuple(Name.of(alias, name.space) for alias in alias_texts(value))
        for alias in aliases:
            self._check_name(alias.name, value)
        return aliases

    def _check_name(self, name: str, at: Any) -> None:
        if self._strict and (why := name_fault(name)):
            raise Refused(why, at)


_BUILDERS = {
    "record": Parser._record,  # noqa: SLF001 - the parser's own table
    "error": Parser._record,  # noqa: SLF001
    "enum": Parser._enum,  # noqa: SLF001
    "fixed": Parser._fixed,  # noqa: SLF001
    "array": Parser._array,  # noqa: SLF001
    "map": Parser._map,  # noqa: SLF001
}


def _order_of(value: dict[str, Any], name: str) -> str:
    order = value.get("order", "ascending")
    if order.__class__ is not str or order.lower() not in _ORDERS:
        raise Refused(f"Invalid order for field {name}: {dumps(order)}", value)
    return str(order.lower())


def _definition(node: Named) -> str:
    return print_node(node, only_outermost=True)
