"""The outline of a Protobuf schema: its imports, messages with their fields, enums with their constants, services."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from compat.outline_tree import Limits, OutlineNode, ReferencedTargets, Target
from compat.protobuf.program.program import Program
from compat.protobuf.program.unit import ENUM, MESSAGE, Symbol
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.text.meta import doc_of, is_meta, tags_of
from compat.protobuf.text.nodes import (
    SCALAR_TYPES,
    Constant,
    Enum,
    Extend,
    Field,
    Group,
    Import,
    MapType,
    Member,
    Message,
    Method,
    Oneof,
    Option,
    Service,
)
from compat.protobuf.text.printer import extensions_text, option_text, quote, reserved_text, value_text
from compat.schema import InvalidSchema, ParsedSchema, Pointer, Position

_FILE, _MESSAGE, _FIELD, _ENUM, _CONSTANT = (
    f"confluent.{kind}_meta" for kind in ("file", "message", "field", "enum", "enum_value")
)
_Declaration = Import | Message | Enum | Extend | Service | Field | Group | Oneof | Constant | Method


def outline(schema: ParsedSchema, targets: ReferencedTargets, limits: Limits) -> OutlineNode:
    """The root of the outline of a ProtobufSchema; see `OutlineMaker`."""
    assert isinstance(schema, ProtobufSchema)
    return _Maker(schema, targets, limits).root()


class _Scope:
    """The declarations that a node is made within.

    Attributes:
        name: The full name, which begins the full names inside; empty outside of any package.
        pointer: The names of the messages; None if differences name no places here.
    """

    def __init__(self, name: str, pointer: Pointer | None) -> None:
        self.name = name
        self.pointer = pointer

    def full(self, name: str) -> str:
        return f"{self.name}.{name}" if self.name else name

    def at(self, step: str | int) -> Pointer | None:
        return None if self.pointer is None else (*self.pointer, step)


class _Maker:
    def __init__(self, schema: ProtobufSchema, targets: ReferencedTargets, limits: Limits) -> None:
        self._schema, self._targets, self._limits = schema, targets, limits
        try:
            self._program: Program | None = schema.program
        except InvalidSchema:  # a stored reference that is not a schema: names stay as they are spelled
            self._program = None

    def root(self) -> OutlineNode:
        self._limits.admit()
        tree, package = self._schema.tree, self._schema.tree.package or ""
        syntax = {"edition": tree.edition} if tree.syntax == "editions" else {"syntax": tree.syntax}
        attributes = {name: quote(value.encode()) for name, value in syntax.items() if value is not None}
        return OutlineNode(
            path="",
            name=package,
            kind="file",
            doc=doc_of(tree.options, _FILE),
            tags=tags_of(tree.options, _FILE),
            attributes=attributes | _attributes(tree.options, _FILE),
            at=self._at(tree.package_at),
            children=self._nodes(
                _Scope(package, ()), tree.imports, tree.messages, tree.enums, tree.extends, tree.services
            ),
            pointer=(),
        )

    def _nodes(self, scope: _Scope, *declared: Iterable[_Declaration]) -> tuple[OutlineNode, ...]:
        """The nodes of declarations of several kinds, in the order of the text."""
        nodes: list[OutlineNode] = []
        for declaration in sorted((one for kind in declared for one in kind), key=lambda one: one.at):
            if not self._limits.admit():
                break
            nodes.append(_NODES[type(declaration)](self, declaration, scope))
        return tuple(nodes)

    def _import(self, entry: Import, scope: _Scope) -> OutlineNode:  # noqa: ARG002 - the table's signature
        return OutlineNode(
            path=entry.path,
            name=entry.path,
            kind="import",
            attributes={"kind": entry.kind} if entry.kind else {},
            at=self._at(entry.at),
            reference=self._targets.target(entry.path, entry.path),
            keys=(("import", entry.path),),
        )

    def _message(self, message: Message, scope: _Scope) -> OutlineNode:
        full = scope.full(message.name)
        pointer = scope.at(message.name)
        return OutlineNode(
            path=full,
            name=message.name,
            kind="message",
            doc=doc_of(message.options, _MESSAGE),
            tags=tags_of(message.options, _MESSAGE),
            attributes=_message_attributes(message),
            at=self._at(message.at),
            children=self._message_nodes(message, _Scope(full, pointer)),
            pointer=pointer,
            keys=(("message", message.name),),
            is_ordered=True,  # payloads name messages by their index
        )

    def _message_nodes(self, message: Message, scope: _Scope) -> tuple[OutlineNode, ...]:
        return self._nodes(
            scope, message.fields, message.groups, message.oneofs, message.messages, message.enums, message.extends
        )

    def _field(self, field: Field, scope: _Scope) -> OutlineNode:
        words, reference = self._type(field.type, scope.name)
        attributes = _attributes(field.options, _FIELD)
        if field.json_name is not None:
            attributes["json_name"] = quote(field.json_name.encode())
        return self._member(
            field,
            scope,
            type=f"{field.label} {words}" if field.label else words,
            default=None if field.default is None else value_text(field.default),
            attributes=attributes,
            reference=reference,
        )

    def _group(self, group: Group, scope: _Scope) -> OutlineNode:
        words = f"group {group.message.name}"
        inner = _Scope(scope.full(group.message.name), scope.at(group.message.name))
        return self._member(
            group,
            scope,
            type=f"{group.label} {words}" if group.label else words,
            attributes=_attributes(group.options, _FIELD) | _message_attributes(group.message),
            children=self._message_nodes(group.message, inner),
        )

    def _member(self, member: Member, scope: _Scope, **more: Any) -> OutlineNode:
        return OutlineNode(
            path=scope.full(member.name),
            name=member.name,
            kind="field",
            doc=doc_of(member.options, _FIELD),
            tags=tags_of(member.options, _FIELD),
            number=member.number,
            optional=member.label != "required",
            at=self._at(member.at),
            pointer=scope.at(member.number),
            keys=_numbered(member.name, member.number),
            **more,
        )

    def _oneof(self, oneof: Oneof, scope: _Scope) -> OutlineNode:
        return OutlineNode(
            path=scope.full(oneof.name),
            name=oneof.name,
            kind="oneof",
            attributes=_attributes(oneof.options, ""),
            at=self._at(oneof.at),
            children=self._nodes(scope, oneof.fields, oneof.groups),
            pointer=scope.at(oneof.name),
            keys=(("oneof", oneof.name),),
            is_group=True,
        )

    def _enum(self, enum: Enum, scope: _Scope) -> OutlineNode:
        full, pointer = scope.full(enum.name), scope.at(enum.name)
        reserved = reserved_text(enum)
        return OutlineNode(
            path=full,
            name=enum.name,
            kind="enum",
            doc=doc_of(enum.options, _ENUM),
            tags=tags_of(enum.options, _ENUM),
            attributes=_attributes(enum.options, _ENUM) | ({"reserved": reserved} if reserved else {}),
            at=self._at(enum.at),
            children=self._nodes(_Scope(full, pointer), enum.constants),
            pointer=pointer,
            keys=(("enum", enum.name),),
        )

    def _constant(self, constant: Constant, scope: _Scope) -> OutlineNode:
        return OutlineNode(
            path=scope.full(constant.name),
            name=constant.name,
            kind="constant",
            doc=doc_of(constant.options, _CONSTANT),
            tags=tags_of(constant.options, _CONSTANT),
            number=constant.number,
            attributes=_attributes(constant.options, _CONSTANT),
            at=self._at(constant.at),
            pointer=scope.at(constant.number),
            keys=_numbered(constant.name, constant.number),
        )

    def _extend(self, extend: Extend, scope: _Scope) -> OutlineNode:
        words, reference = self._type(extend.extendee, scope.name)
        inner = _Scope(scope.name, None)
        children = self._nodes(inner, extend.fields, extend.groups)
        # A file may extend one message in several blocks.
        first = extend.members[0].name if extend.members else ""
        return OutlineNode(
            path=scope.full(f"extend {extend.extendee} {first}".strip()),
            name=extend.extendee,
            kind="extend",
            type=words,
            at=self._at(extend.at),
            reference=reference,
            children=children,
            keys=(("extend", extend.extendee, first), ("extend", extend.extendee)),
        )

    def _service(self, service: Service, scope: _Scope) -> OutlineNode:
        full = scope.full(service.name)
        return OutlineNode(
            path=full,
            name=service.name,
            kind="service",
            attributes=_attributes(service.options, ""),
            at=self._at(service.at),
            children=self._nodes(_Scope(full, None), service.methods),
            keys=(("service", service.name),),
        )

    def _method(self, method: Method, scope: _Scope) -> OutlineNode:
        taken, returned = (self._type(name, scope.name)[0] for name in (method.input, method.output))
        taken, returned = (
            f"stream {words}" if streams else words
            for words, streams in ((taken, method.client_streaming), (returned, method.server_streaming))
        )
        return OutlineNode(
            path=scope.full(method.name),
            name=method.name,
            kind="method",
            type=f"({taken}) returns ({returned})",
            attributes=_attributes(method.options, ""),
            at=self._at(method.at),
            keys=(("method", method.name),),
        )

    def _type(self, name: str | MapType, scope: str) -> tuple[str, Target | None]:
        """A type in words, and its target if it is a message or enum."""
        if isinstance(name, MapType):
            words, target = self._type(name.value, scope)
            return f"map<{name.key}, {words}>", target
        if name in SCALAR_TYPES:
            return name, None
        program = self._program
        symbol = None if program is None else program.resolve_type(program.root, name, scope)
        if program is None or symbol is None:
            return name, Target(name)
        full = symbol.full_name
        kind = _WORDS[symbol.kind]
        if symbol.unit is program.root:
            return f"{kind} {full.removeprefix(program.root.prefix)}", Target(full, _defined_path(symbol))
        return f"{kind} {full}", self._targets.target(full, symbol.unit.path)

    def _at(self, token: int) -> Position | None:
        return self._schema.layout.position(token) if self._schema.is_text else None


_WORDS = {MESSAGE: "message", ENUM: "enum"}
_NODES: Mapping[type[_Declaration], Callable[[_Maker, Any, _Scope], OutlineNode]] = {
    Import: _Maker._import,  # noqa: SLF001 - the maker's own table
    Message: _Maker._message,  # noqa: SLF001
    Field: _Maker._field,  # noqa: SLF001
    Group: _Maker._group,  # noqa: SLF001
    Oneof: _Maker._oneof,  # noqa: SLF001
    Enum: _Maker._enum,  # noqa: SLF001
    Constant: _Maker._constant,  # noqa: SLF001
    Extend: _Maker._extend,  # noqa: SLF001
    Service: _Maker._service,  # noqa: SLF001
    Method: _Maker._method,  # noqa: SLF001
}


def _defined_path(symbol: Symbol) -> str | None:
    """The path of the node that defines a symbol; None for the entry of a map, which has no node."""
    return symbol.full_name if isinstance(symbol.node, Message | Enum) else None


def _numbered(name: str, number: int) -> tuple[Hashable, ...]:
    """The keys of a field or constant: constants may share a number, and a number may have got another name."""
    return (name, number), ("number", number), ("name", name)


def _message_attributes(message: Message) -> dict[str, str]:
    attributes = _attributes(message.options, _MESSAGE)
    lists = {"reserved": reserved_text(message), "extensions": extensions_text(message)}
    return attributes | {name: text for name, text in lists.items() if text}


def _attributes(options: Iterable[Option], meta: str) -> dict[str, str]:
    """The options by name; tags and docs are apart."""
    return dict(_plain_options(options, meta))


def _plain_options(options: Iterable[Option], meta: str) -> Iterator[tuple[str, str]]:
    for option in options:
        if not (meta and is_meta(option, meta)):
            yield option_text(option)
