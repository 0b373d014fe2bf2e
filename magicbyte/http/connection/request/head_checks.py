"""The checks of a request's head before any application sees it."""

from __future__ import annotations

import re

from magicbyte.http.connection.hosts import Hosts
from magicbyte.http.connection.request.parser import Head
from magicbyte.http.connection_limits import Limits
from magicbyte.http.errors import (
    BAD_REQUEST,
    HEAD_TOO_LARGE,
    METHOD_NOT_ALLOWED,
    MISDIRECTED,
    TARGET_TOO_LONG,
    UNSUPPORTED_ENCODING,
    UNSUPPORTED_TRANSFER,
    UNSUPPORTED_VERSION,
    WRONG_SCHEME,
)
from magicbyte.kit.errors import ApiError

#: A Host field (RFC 3986 section 3.2): a name, an IPv4 address, or an IP address in brackets; then perhaps a port.
_HOST = re.compile(rb"(?:\[[0-9A-Za-z:._~!$&'()*+,;=-]+\]|(?:[0-9A-Za-z._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::[0-9]*)?")


def refusal_of(
    head: Head, limits: Limits, hosts: Hosts | None, server: tuple[str, int] | None, scheme: str
) -> ApiError | None:
    """Return the error for a head that must not be served; None if it may be.

    Args:
        head: The head.
        limits: The limits of its size.
        hosts: The accepted Host names; None for any.
        server: The address at which the client reached the server.
        scheme: The scheme of the connection.
    """
    if len(head.fields) > limits.head_fields:
        return HEAD_TOO_LARGE(limit=f"{limits.head_fields} fields")
    if len(head.target) > limits.target_bytes:
        return TARGET_TOO_LONG(limit=limits.target_bytes)
    if head.version not in ("1.0", "1.1"):
        return UNSUPPORTED_VERSION(version=head.version)
    return _refusal_of_host(head, hosts, server) or _refusal_of_body(head) or _refusal_of_target(head, scheme)


def _refusal_of_host(head: Head, hosts: Hosts | None, server: tuple[str, int] | None) -> ApiError | None:
    """Check Host as RFC 9112 section 3.2 requires; then compare it with the accepted names."""
    if head.hosts == 0:
        return None if head.version == "1.0" else BAD_REQUEST(detail="The request has no Host field")
    if head.hosts > 1:
        return BAD_REQUEST(detail="The request has more than one Host field")
    if not _HOST.fullmatch(head.host):
        return BAD_REQUEST(detail="The Host field of the request is neither HOST nor HOST:PORT")
    host = head.host
    if head.scheme:
        host = head.authority
        if not _HOST.fullmatch(host):
            return BAD_REQUEST(detail="The authority of the request target is neither HOST nor HOST:PORT")
    if hosts is None or hosts.allow(host, server):
        return None
    return MISDIRECTED(host=host.decode("latin-1"))


def _refusal_of_body(head: Head) -> ApiError | None:
    """Refuse encodings, because no body is unpacked."""
    for name, value in head.fields:
        if name == b"transfer-encoding" and value.lower() != b"chunked":
            return UNSUPPORTED_TRANSFER(encoding=value.decode("latin-1"))
        if name == b"content-encoding" and set(value.lower().replace(b" ", b"").split(b",")) - {b"", b"identity"}:
            error = UNSUPPORTED_ENCODING(encoding=value.decode("latin-1"))
            return error.with_headers(accept_encoding="identity")
    return None


def _refusal_of_target(head: Head, scheme: str) -> ApiError | None:
    if head.method == b"CONNECT":
        return METHOD_NOT_ALLOWED()
    if head.scheme:
        # A request for https:// must not be served in the clear (RFC 9110 section 7.4).
        return None if head.scheme == scheme.encode() else WRONG_SCHEME(scheme=scheme)
    if head.target.startswith(b"/") or (head.target == b"*" and head.method == b"OPTIONS"):
        return None
    return BAD_REQUEST(detail="The request target must be a path or an http URL")
