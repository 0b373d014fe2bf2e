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
    raw_path, query = _split(head)
    path = raw_path.decode("ascii")
    return {
        **connection,
        "http_version": head.version,
        "headers": head.fields,
        "method": head.method.decode("ascii"),
        "raw_path": raw_path,
        "query_string": query,
        "path": unquote(path) if b"%" in raw_path else path,
    }


def _split(head: Head) -> tuple[bytes, bytes]:
    """Return the path and the query of a request's target. Raises as `request_scope`."""
    target = head.target
    if target.startswith(b"/") and b"#" not in target:
        # Most targets. httptools has accepted their characters already, and splits them no differently.
        path, _, query = target.partition(b"?")
        return path, query
    if head.method == b"CONNECT":
        return b"", b""
    url = httptools.parse_url(target)
    return url.path or (b"/" if head.scheme else b""), url.query or b""


def _address(name: Any) -> tuple[str, int] | None:
    """Return host and port of a socket's name, which has more parts for IPv6."""
    return (str(name[0]), int(name[1])) if isinstance(name, (list, tuple)) and name else None
