"""The parser of the Protobuf language: makes a tree of a text in proto2, proto3 or editions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from compat.protobuf.text.cursor import Cursor
from compat.protobuf.text.nodes import (
    IMPORT_KINDS,
    SCALAR_TYPES,
    Extend,
    Field,
    File,
    Group,
    Import,
    MapType,
    Message,
    Oneof,
    Option,
    StringLiteral,
    Value,
    by_kind,
)
from compat.protobuf.text.numbers import read_enum, read_extensions, read_reserved
from compat.protobuf.text.services import read_service
from compat.protobuf.text.values import bracketed_options, option_statement

#: How deeply messages may nest, as in protoc.
MAX_NESTING = 31
EDITIONS = ("2023", "2024")
_LABELS = frozenset(("optional", "required", "repeated"))
_VISIBILITIES = frozenset(("export", "local"))
_TOP_LEVEL = "a top-level statement such as message, enum, service, extend, import or option"


def parse_file(text: str) -> File:
    """The tree of a `.proto` text.

    Raises:
        InvalidSchema: The text does not follow the grammar; the message says what was expected and where.
    """
    return _Parser(Cursor(text)).file()


class _Parser:
    """One pass over a text; the declared syntax decides which labels are allowed."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.syntax = "proto2"
        self.edition: str | None = None

    def file(self) -> File:
        cursor = self.cursor
        while cursor.take(";"):
            pass
        declared = self.syntax_statement() if cursor.tokens[cursor.i] in {"syntax", "edition"} else None
        declarations = self.declarations(_FILE_STATEMENTS, "")
        packages: list[tuple[str, int]] = declarations.pop("package", [])
        if len(packages) > 1:
            cursor.fail("a file has one package only", packages[1][1])
        package, package_at = packages[0] if packages else (None, 0)
        imports = by_kind(declarations.pop("imports", ()))
        declarations = {kind: tuple(nodes) for kind, nodes in declarations.items()}
        return File(declared, self.edition, package, imports, package_at=package_at, **declarations)

    def declarations(self, statements: Mapping[str, _Statement], end: str) -> dict[str, Any]:
        """The declarations up to the end token, in the text's order, by the node's field that takes them."""
        cursor = self.cursor
        tokens = cursor.tokens
        declarations: dict[str, Any] = {}
        while (lexeme := tokens[cursor.i]) != end:
            if lexeme in _VISIBILITIES and self.edition == "2024":
                self.visible(declarations)
                continue
            statement = statements.get(lexeme)
            if statement is not None:
                declarations.setdefault(statement.kind, []).append(statement.parse(self))
            elif not cursor.take(";"):
                if end != "}" or not lexeme:
                    cursor.expected(_TOP_LEVEL if end != "}" else '"}"')
                self.member(declarations.setdefault("fields", []), declarations.setdefault("groups", []))
        return declarations

    def package(self) -> tuple[str, int]:
        cursor = self.cursor
        at = cursor.i
        cursor.i += 1
        name = cursor.dotted("the name of the package")
        if name[0] == ".":
            cursor.fail("the name of a package does not begin with a dot", at + 1)
        cursor.expect(";")
        return name, at

    def syntax_statement(self) -> str:
        cursor = self.cursor
        keyword = cursor.tokens[cursor.i]
        cursor.i += 1
        cursor.expect("=")
        at = cursor.i
        value = cursor.text_string(f"the {keyword} as a string")
        if keyword == "edition":
            if value not in EDITIONS:
                cursor.fail(f'unknown edition "{value}"; this parser knows {", ".join(EDITIONS)}', at)
            self.syntax = "editions"
            self.edition = value
        elif value in {"proto2", "proto3"}:
            self.syntax = value
        else:
            cursor.fail(f'unknown syntax "{value}"; this parser knows "proto2" and "proto3"', at)
        cursor.expect(";")
        return self.syntax

    def import_(self) -> Import:
        cursor = self.cursor
        at = cursor.i
        cursor.i += 1
        kind = cursor.tokens[cursor.i]
        if not kind or kind not in IMPORT_KINDS or (kind == "option" and self.edition != "2024"):
            kind = ""
        else:
            cursor.i += 1
        path = cursor.text_string("the path to import, as a string")
        cursor.expect(";")
        return Import(path, kind, at)

    def visible(self, declarations: dict[str, Any]) -> None:
        cursor = self.cursor
        visibility = cursor.tokens[cursor.i]
        cursor.i += 1
        statement = _FILE_STATEMENTS.get(cursor.tokens[cursor.i])
        if statement is None or statement.kind not in {"messages", "enums"}:
            cursor.expected("message or enum")
        declarations.setdefault(statement.kind, []).append(replace(statement.parse(self), visibility=visibility))

    def message(self) -> Message:
        cursor = self.cursor
        at = cursor.i
        cursor.i += 1
        name = cursor.name("the name of the message")
        return self.message_body(name, at)

    def message_body(self, name: str, at: int) -> Message:
        cursor = self.cursor
        cursor.expect("{")
        if cursor.depth >= MAX_NESTING:
            cursor.fail(f"messages nest deeper than {MAX_NESTING} levels")
        cursor.depth += 1
        declarations = self.declarations(_MESSAGE_STATEMENTS, "}")
        cursor.i += 1
        cursor.depth -= 1
        parts: dict[str, Any] = {kind: tuple(nodes) for kind, nodes in declarations.items()}
        return Message(name, at=at, **parts)

    def member(self, fields: list[Field], groups: list[Group], *, in_oneof: bool = False) -> None:
        cursor = self.cursor
        tokens = cursor.tokens
        at = cursor.i
        label: str | None = tokens[at]
        if label in _LABELS:
            self.check_label(label, in_oneof=in_oneof)
            cursor.i += 1
        else:
            label = None
        word = tokens[cursor.i]
        if word == "group":
            groups.append(self.group(label, at, in_oneof=in_oneof))
            return
        kind: str | MapType
        if word == "map" and tokens[cursor.i + 1] == "<":
            kind = self.map_type(label, in_oneof=in_oneof)
        elif word in SCALAR_TYPES and tokens[cursor.i + 1][:1] != ".":
            cursor.i += 1
            kind = word
        else:
            kind = cursor.dotted("the type of a field")
        if label is None and not in_oneof and self.syntax == "proto2" and isinstance(kind, str):
            cursor.fail('expected "required", "optional" or "repeated": proto2 fields have a label', at)
        name = cursor.name("the name of the field")
        if tokens[cursor.i] != "=":
            cursor.expected('"=" and the number of the field')
        cursor.i += 1
        number = cursor.integer("the number of the field")
        if tokens[cursor.i] == ";":
            cursor.i += 1
            fields.append(Field(label, kind, name, number, (), None, None, at))
            return
        options, default, json_name = self.field_options()
        cursor.expect(";")
        fields.append(Field(label, kind, name, number, options, default, json_name, at))

    def check_label(self, label: str, *, in_oneof: bool) -> None:
        if in_oneof:
            self.cursor.fail("fields in a oneof have no label")
        if self.syntax == "editions" and label != "repeated":
            self.cursor.fail(f'the label "{label}" does not exist in editions; use features.field_presence')
        if self.syntax == "proto3" and label == "required":
            self.cursor.fail("required fields do not exist in proto3")

    def field_options(self) -> tuple[tuple[Option, ...], Value | None, str | None]:
        """The options of a field; apart from them, `default` and `json_name`, which only look like options."""
        cursor = self.cursor
        default: Value | None = None
        json_name: str | None = None
        rest = []
        for option in bracketed_options(cursor):
            first = option.name[0]
            special = first.name if len(option.name) == 1 and not first.extension else ""
            if special == "default":
                if default is not None:
                    cursor.fail('the option "default" is set twice', option.at)
                default = option.value
            elif special == "json_name":
                if json_name is not None:
                    cursor.fail('the option "json_name" is set twice', option.at)
                if not isinstance(option.value, StringLiteral):
                    cursor.fail("json_name is a string", option.at)
                try:
                    json_name = option.value.value.decode()
                except UnicodeDecodeError:
                    cursor.fail("json_name is not valid UTF-8", option.at)
            else:
                rest.append(option)
        return tuple(rest), default, json_name

    def map_type(self, label: str | None, *, in_oneof: bool) -> MapType:
        cursor = self.cursor
        if label is not None:
            cursor.fail("map fields have no label", cursor.i - 1)
        if in_oneof:
            cursor.fail("a oneof has no map fields")
        cursor.i += 2
        key = cursor.dotted("the type of the map's keys")
        cursor.expect(",")
        value = cursor.dotted("the type of the map's values")
        cursor.expect(">")
        return MapType(key, value)

    def group(self, label: str | None, at: int, *, in_oneof: bool) -> Group:
        cursor = self.cursor
        if self.syntax != "proto2":
            cursor.fail("groups exist in proto2 only")
        if label is None and not in_oneof:
            cursor.fail('expected "required", "optional" or "repeated": proto2 groups have a label', at)
        cursor.i += 1
        name = cursor.name("the name of the group")
        if not name[0].isupper():
            cursor.fail("the name of a group begins with a capital letter", cursor.i - 1)
        cursor.expect("=")
        number = cursor.integer("the number of the field")
        options = bracketed_options(cursor)
        return Group(label, number, self.message_body(name, at), options, at)

    def oneof(self) -> Oneof:
        cursor = self.cursor
        at = cursor.i
        cursor.i += 1
        name = cursor.name("the name of the oneof")
        cursor.expect("{")
        fields: list[Field] = []
        groups: list[Group] = []
        options: list[Option] = []
        while (lexeme := cursor.tokens[cursor.i]) != "}":
            if lexeme == "option":
                options.append(option_statement(cursor))
            else:
                self.member(fields, groups, in_oneof=True)
        cursor.i += 1
        return Oneof(name, tuple(fields), tuple(groups), tuple(options), at)

    def extend(self) -> Extend:
        cursor = self.cursor
        at = cursor.i
        cursor.i += 1
        extendee = cursor.dotted("the name of the message to extend")
        cursor.expect("{")
        fields: list[Field] = []
        groups: list[Group] = []
        while cursor.tokens[cursor.i] != "}":
            self.member(fields, groups)
        if not fields and not groups:
            cursor.expected("a field")
        cursor.i += 1
        return Extend(extendee, tuple(fields), tuple(groups), at)


class _Statement(NamedTuple):
    """A kind of statement: the field of the enclosing node that takes it, and its parser."""

    kind: str
    parse: Callable[[_Parser], Any]


_MESSAGE_STATEMENTS = {
    "message": _Statement("messages", _Parser.message),
    "enum": _Statement("enums", lambda parser: read_enum(parser.cursor, parser.syntax)),
    "extend": _Statement("extends", _Parser.extend),
    "option": _Statement("options", lambda parser: option_statement(parser.cursor)),
    "oneof": _Statement("oneofs", _Parser.oneof),
    "reserved": _Statement("reserved", lambda parser: read_reserved(parser.cursor, parser.syntax)),
    "extensions": _Statement("extensions", lambda parser: read_extensions(parser.cursor, parser.syntax)),
}
_FILE_STATEMENTS = {
    "message": _Statement("messages", _Parser.message),
    "enum": _Statement("enums", lambda parser: read_enum(parser.cursor, parser.syntax)),
    "extend": _Statement("extends", _Parser.extend),
    "option": _Statement("options", lambda parser: option_statement(parser.cursor)),
    "import": _Statement("imports", _Parser.import_),
    "package": _Statement("package", _Parser.package),
    "service": _Statement("services", lambda parser: read_service(parser.cursor)),
}
