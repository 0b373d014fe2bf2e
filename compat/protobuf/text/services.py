"""The grammar of services."""

from __future__ import annotations

from compat.protobuf.text.cursor import Cursor
from compat.protobuf.text.nodes import Method, Option, Service
from compat.protobuf.text.values import option_statement


def read_service(cursor: Cursor) -> Service:
    """Read a service with its methods."""
    at = cursor.i
    cursor.i += 1
    name = cursor.name("the name of the service")
    cursor.expect("{")
    methods: list[Method] = []
    options: list[Option] = []
    while (lexeme := cursor.tokens[cursor.i]) != "}":
        match lexeme:
            case "rpc":
                methods.append(_method(cursor))
            case "option":
                options.append(option_statement(cursor))
            case ";":
                cursor.i += 1
            case _:
                cursor.expected('"rpc", "option" or "}"')
    cursor.i += 1
    return Service(name, tuple(methods), tuple(options), at)


def _method(cursor: Cursor) -> Method:
    at = cursor.i
    cursor.i += 1
    name = cursor.name("the name of the method")
    client_streaming, input_ = _method_type(cursor, "the request type")
    cursor.expect("returns")
    server_streaming, output = _method_type(cursor, "the response type")
    options: list[Option] = []
    if cursor.take("{"):
        while not cursor.take("}"):
            if cursor.tokens[cursor.i] == "option":
                options.append(option_statement(cursor))
            elif not cursor.take(";"):
                cursor.expected('"option" or "}"')
    else:
        cursor.expect(";")
    return Method(name, input_, output, client_streaming, server_streaming, tuple(options), at)


def _method_type(cursor: Cursor, noun: str) -> tuple[bool, str]:
    cursor.expect("(")
    streaming = cursor.take("stream")
    name = cursor.dotted(noun)
    if not streaming and name.startswith("stream."):
        # like protoc, read the word as the keyword and continue at the dot
        streaming, name = True, name.removeprefix("stream")
    cursor.expect(")")
    return streaming, name
