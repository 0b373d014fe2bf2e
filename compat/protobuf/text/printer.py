"""Prints a file's tree in the style of the reference; identity is computed from this text.

Sections are in a fixed order and separated by one blank line; within a message that line is indented, as in the
reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.protobuf.text.nodes import (
    MAX_ENUM_NUMBER,
    MAX_FIELD_NUMBER,
    Aggregate,
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    File,
    Group,
    ListLiteral,
    Message,
    Method,
    NamePart,
    Oneof,
    Option,
    Range,
    Reserved,
    Service,
    StringLiteral,
    Value,
)

_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
}

Lines = list[str]


def print_file(file: File) -> str:
    """The text of a tree; parsing it gives an equal tree."""
    head: Lines = []
    if file.syntax == "editions":
        head.append(f'edition = "{file.edition}";')
    elif file.syntax is not None:
        head.append(f'syntax = "{file.syntax}";')
    if file.package is not None:
        head.append(f"package {file.package};")
    sections = [
        [_import(entry.path, entry.kind) for entry in file.imports],
        _all(_option_statement, file.options),
        [*_all(_message, file.messages), *_all(_enum, file.enums)],
        _all(_extend, file.extends),
        _all(_service, file.services),
    ]
    lines = head
    for section in filter(None, sections):
        lines += ["", *section]
    return "".join(line + "\n" for line in lines)


def option_text(option: Option) -> tuple[str, str]:
    """The name and the value of an option, each on one line."""
    name, _, value = " ".join(map(str.strip, _option(option))).partition(" = ")
    return name, value


def value_text(value: Value) -> str:
    """A value on one line."""
    return " ".join(map(str.strip, _value(value)))


def reserved_text(declared: Message | Enum) -> str:
    """The reserved numbers and names of a message or enum on one line, separated by commas; empty if there are none."""
    printer = _reserved if isinstance(declared, Message) else _enum_reserved
    statements = _all(printer, declared.reserved)
    return ", ".join(statement.removeprefix("reserved ").removesuffix(";") for statement in statements)


def extensions_text(message: Message) -> str:
    """The extension ranges of a message on one line, separated by commas; empty if there are none."""
    return ", ".join(_range(extent) for extensions in message.extensions for extent in extensions.ranges)


def _import(path: str, kind: str) -> str:
    keyword = f"import {kind}" if kind else "import"
    return f"{keyword} {quote(path.encode())};"


def _all(printer: object, nodes: Iterable[object]) -> Lines:
    return [line for node in nodes for line in printer(node)]  # type: ignore[operator]


def _block(head: str, sections: Iterable[Lines]) -> Iterator[str]:
    """A declaration with its sections in braces, separated by blank lines."""
    filled = [section for section in sections if section]
    if not filled:
        yield head + " {}"
        return
    yield head + " {"
    for index, section in enumerate(filled):
        if index:
            yield ""
        for line in section:
            yield "  " + line
    yield "}"


def _message(message: Message) -> Iterator[str]:
    return _block(_visible(f"message {message.name}", message.visibility), _message_sections(message))


def _visible(head: str, visibility: str | None) -> str:
    return f"{visibility} {head}" if visibility else head


def _message_sections(message: Message) -> Iterator[Lines]:
    yield _all(_reserved, message.reserved)
    yield _all(_option_statement, message.options)
    yield _all(_field, message.fields)
    yield _all(_oneof, message.oneofs)
    yield _all(_group, message.groups)
    yield _all(_extensions, message.extensions)
    yield _all(_extend, message.extends)
    yield [*_all(_message, message.messages), *_all(_enum, message.enums)]


def _field(field: Field) -> Iterator[str]:
    options = list(field.options)
    if field.default is not None:
        options.append(Option((NamePart("default", extension=False),), field.default))
    if field.json_name is not None:
        options.append(Option((NamePart("json_name", extension=False),), StringLiteral(field.json_name.encode())))
    label = f"{field.label} " if field.label else ""
    return _bracketed(f"{label}{field.type} {field.name} = {field.number}", options, ";")


def _group(group: Group) -> Iterator[str]:
    label = f"{group.label} " if group.label else ""
    *lines, last = _bracketed(f"{label}group {group.message.name} = {group.number}", group.options, "")
    yield from lines
    yield from _block(last, _message_sections(group.message))


def _oneof(oneof: Oneof) -> Iterator[str]:
    sections = (_all(_option_statement, oneof.options), _all(_field, oneof.fields), _all(_group, oneof.groups))
    return _block(f"oneof {oneof.name}", sections)


def _extend(extend: Extend) -> Iterator[str]:
    return _block(f"extend {extend.extendee}", (_all(_field, extend.fields), _all(_group, extend.groups)))


def _reserved(reserved: Reserved) -> Iterator[str]:
    yield f"reserved {', '.join(_reserved_value(value, quoted=reserved.quoted) for value in reserved.values)};"


def _reserved_value(value: int | Range | str, *, quoted: bool) -> str:
    if isinstance(value, str):
        return quote(value.encode()) if quoted else value
    return _range(value)


def _range(value: int | Range) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value.start} to {'max' if value.end == MAX_FIELD_NUMBER else value.end}"


def _enum_reserved(reserved: Reserved) -> Iterator[str]:
    # `max` means another number in enums
    values = [
        f"{value.start} to {'max' if value.end == MAX_ENUM_NUMBER else value.end}"
        if isinstance(value, Range)
        else _reserved_value(value, quoted=reserved.quoted)
        for value in reserved.values
    ]
    yield f"reserved {', '.join(values)};"


def _extensions(extensions: Extensions) -> Iterator[str]:
    ranges = ", ".join(map(_range, extensions.ranges))
    return _bracketed(f"extensions {ranges}", extensions.options, ";")


def _enum(enum: Enum) -> Iterator[str]:
    # the reference puts no blank line between these sections
    lines = [
        *_all(_enum_reserved, enum.reserved),
        *_all(_option_statement, enum.options),
        *_all(_constant, enum.constants),
    ]
    return _block(_visible(f"enum {enum.name}", enum.visibility), (lines,))


def _constant(constant: Constant) -> Iterator[str]:
    return _bracketed(f"{constant.name} = {constant.number}", constant.options, ";")


def _service(service: Service) -> Iterator[str]:
    return _block(f"service {service.name}", (_all(_option_statement, service.options), _all(_method, service.methods)))


def _method(method: Method) -> Iterator[str]:
    request = f"stream {method.input}" if method.client_streaming else method.input
    response = f"stream {method.output}" if method.server_streaming else method.output
    head = f"rpc {method.name} ({request}) returns ({response})"
    if not method.options:
        yield head + ";"
        return
    yield head + " {"
    yield from ("  " + line for line in _all(_option_statement, method.options))
    yield "};"


def _option_statement(option: Option) -> Iterator[str]:
    first, *rest = _option(option)
    lines = ["option " + first, *rest]
    lines[-1] += ";"
    yield from lines


def _bracketed(head: str, options: Iterable[Option], end: str) -> Iterator[str]:
    """A declaration with its options in square brackets: a single one on the same line, several on separate lines."""
    written = [_option(option) for option in options]
    if not written:
        yield head + end
    elif len(written) == 1:
        lines = written[0]
        lines[0] = f"{head} [{lines[0]}"
        lines[-1] += "]" + end
        yield from lines
    else:
        yield head + " ["
        yield from _elements(written)
        yield "]" + end


def _elements(elements: list[Lines]) -> Iterator[str]:
    for index, lines in enumerate(elements):
        if index < len(elements) - 1:
            lines[-1] += ","
        yield from ("  " + line for line in lines)


def _option(option: Option) -> Lines:
    name = ".".join(f"({part.name})" if part.extension else part.name for part in option.name)
    first, *rest = _value(option.value)
    return [f"{name} = {first}", *rest]


def _value(value: Value) -> Lines:
    if isinstance(value, StringLiteral):
        return [quote(value.value)]
    if isinstance(value, Aggregate):
        entries = []
        for key, entry in value.entries:
            first, *rest = _value(entry)
            entries.append([f"{key}: {first}", *rest])
        return ["{", *_elements(entries), "}"]
    if isinstance(value, ListLiteral):
        return ["[", *_elements([_value(element) for element in value.values]), "]"]
    return [value.text]


def quote(value: bytes) -> str:
    """A string literal; bytes that are not UTF-8, and control characters without a name, become octal escapes."""
    text = value.decode(errors="surrogateescape")
    return '"' + "".join(_ESCAPES.get(character) or _escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\{code - 0xDC00:03o}"
    return f"\\{code:03o}" if code < 0x20 or code == 0x7F else character
