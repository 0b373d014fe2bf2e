"""ASGI's scope of a request."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

import httptools

from magicbyte.http.asgi import Scope
from magicbyte.http.connection.request.parser import Head


def connection_scope(transport: asyncio.Transport, root_path: str) -> dict[str, Any]:
    """Return what the scopes of all requests of a connection have in common.

    Args:
        transport: The connection.
        root_path: The path below which the application is mounted.
    """
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "server": _address(transport.get_extra_info("sockname")),
        "client": _address(transport.get_extra_info("peername")),
        "scheme": "https" if transport.get_extra_info("sslcontext") else "http",
        "root_path": root_path,
    }


def request_scope(head: Head, connection: dict[str, Any]) -> Scope:
    """Return the scope of a request.

    Args:
        head: The head of the request.
        connection: What the scopes of all requests of the connection have in common.

    Raises:
        httptools.HttpParserInvalidURLError: The target is neither a path nor a URL.
    """
    target = None if head.method == b"CONNECT" else httptools.parse_url(head.target)
    raw_path: bytes = b"" if target is None else target.path or (b"/" if head.scheme else b"")
    path = raw_path.decode("ascii")
    return {
        **connection,
        "http_version": head.version,
        "headers": head.fields,
        "method": head.method.decode("ascii"),
        "raw_path": raw_path,
        "query_string": b"" if target is None else target.query or b"",
        "path": unquote(path) if b"%" in raw_path else path,
    }


def _address(name: Any) -> tuple[str, int] | None:
    """Return host and port of a socket's name, which has more parts for IPv6."""
    return (str(name[0]), int(name[1])) if isinstance(name, (list, tuple)) and name else None
