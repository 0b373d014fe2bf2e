"""The headers that are passed on with a relayed request, and with its answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from magicbyte.http.response_headers import NAMES_OF_OURS
from magicbyte.http.routing.identity import IDENTITY
from magicbyte.security.principal import FORWARDED_FOR

Headers = list[tuple[bytes, bytes]]

#: Headers of a single connection (RFC 9110 section 7.6.1).
_HOP_BY_HOP = frozenset((b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"expect"))
#: The length of a body is known to who sends it: a relay or a response sets it.
_LENGTH = b"content-length"
#: Headers of browsers about the page, which this server has checked; the next one must not check them again.
_FROM_BROWSERS = frozenset((b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest", b"sec-fetch-user"))
#: Who sends a request, and from where: a relay says this itself.
_OF_SENDER = frozenset((b"authorization", b"cookie", FORWARDED_FOR, IDENTITY))
#: The prefix of headers that only nodes may send to each other, never clients.
_BETWEEN_NODES = b"magicbyte-"
_REQUEST_ID = b"x-request-id"

_NEVER_SENT = _HOP_BY_HOP | {_LENGTH, IDENTITY}


@dataclass(frozen=True, slots=True)
class HeaderPolicy:
    """The names of headers that are passed on in each direction, in lower case.

    Headers of the connection, the length of a body and the identities of nodes are never copied, whatever a policy
    names: a relay sets them.

    Attributes:
        sent: The names of request headers; None for all except the client's credentials and its request id, headers of
            browsers, and headers that only nodes send.
        answered: The names of response headers; None for all except the request id and those that each server of ours
            adds to its own answers.
    """

    sent: frozenset[bytes] | None
    answered: frozenset[bytes] | None

    def to_send(self, headers: Iterable[tuple[bytes, bytes]]) -> Headers:
        """The headers of a request that are passed on; names are in lower case."""
        if self.sent is not None:
            names = self.sent - _NEVER_SENT
            return [(name, value) for name, value in headers if name in names]
        return [
            (name, value)
            for name, value in headers
            if name not in _NOT_SENT_TO_NODES and not name.startswith(_BETWEEN_NODES)
        ]

    def to_answer(self, headers: Iterable[tuple[bytes, bytes]]) -> Headers:
        """The headers of an answer that are passed on, with names in lower case and without the length of its body."""
        lower = ((name.lower(), value) for name, value in headers)
        if self.answered is not None:
            names = self.answered - _HOP_BY_HOP - {_LENGTH}
            return [(name, value) for name, value in lower if name in names]
        return [(name, value) for name, value in lower if name not in _NOT_ANSWERED_BY_NODES]


_NOT_SENT_TO_NODES = _NEVER_SENT | _FROM_BROWSERS | _OF_SENDER | {_REQUEST_ID}
_NOT_ANSWERED_BY_NODES = _HOP_BY_HOP | NAMES_OF_OURS | {_LENGTH, _REQUEST_ID}


def names_of(*names: str) -> frozenset[bytes]:
    """The names of headers in lower case, as a policy has them; empty names are left out."""
    return frozenset(name.strip().lower().encode("latin-1") for name in names if name.strip())
