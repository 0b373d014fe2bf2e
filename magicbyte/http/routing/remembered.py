"""Answers that are given again from memory as long as the state is the one that they were given from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from starlette.responses import Response

from magicbyte.http.asgi import Message, Receive, Scope, header
from magicbyte.security.principal import Principal

#: Principal, raw path, query string, Accept, Content-Type, and the body of a POST.
Key = tuple[str, bytes, bytes, bytes, bytes, bytes]
#: About what an answer takes in memory besides its bytes.
_OVERHEAD = 1500
#: All that an answer depends on: the request, and the state when it came.
Slot = tuple[Key, Hashable]


@dataclass(frozen=True, slots=True)
class RememberedAnswer:
    """An answer with status 200, and the state that it was given from."""

    state: Hashable
    start: Message
    body: Message
    size: int


class RememberedAnswers:
    """The answers of rows that say so, by everything that such an answer depends on besides the state.

    Requests with an id of their own are answered anew, since their answers carry it.
    """

    def __init__(
        self,
        state: Callable[[], Hashable],
        conditions: Mapping[bytes, Callable[[str], bool]],
        *,
        most_bytes: int = 64 << 20,
        longest: int = 64 << 10,
    ) -> None:
        """Begin with nothing remembered.

        Args:
            state: A value that changes with the state.
            conditions: Headers of requests, in lower case, and which values let an answer be given from memory.
            most_bytes: How much is remembered altogether.
            longest: The longest body of a request or an answer that is remembered, in bytes.
        """
        self._state = state
        self._conditions = {b"x-request-id": _never, **conditions}
        self._looked_at = frozenset({b"accept", b"content-type", *self._conditions})
        self._most_bytes = most_bytes
        self._longest = longest
        self._bytes = 0
        self._answers: OrderedDict[Key, RememberedAnswer] = OrderedDict()

    def slot(self, principal: Principal, scope: Scope) -> Slot | None:
        """What the answer to a request depends on besides its body; None if its headers want it answered anew."""
        accept = content_type = b""
        for name, value in scope["headers"]:
            if name not in self._looked_at:
                continue
            if name == b"accept":
                accept += b"," + value
            elif name == b"content-type":
                content_type = value
            elif not self._conditions[name](value.decode("latin-1")):
                return None
        key = (principal.key, scope["raw_path"], scope["query_string"], accept, content_type, b"")
        return key, self._state()

    async def with_body(self, slot: Slot, scope: Scope, receive: Receive) -> tuple[Slot | None, Receive]:
        """As `slot`, with the body, and the means to receive it again; None if it is long or comes in parts."""
        length = header(scope, b"content-length")
        if length is None or not length.isdigit() or int(length) > self._longest:
            return None, receive
        first = await receive()
        receive = _again(first, receive)
        if first["type"] != "http.request" or first.get("more_body"):
            return None, receive
        # An empty body must not be taken for that of a GET.
        body = first.get("body", b"") or b" "
        key, state = slot
        return ((*key[:5], body), state), receive

    def find(self, slot: Slot) -> RememberedAnswer | None:
        """What was answered before, in the same state."""
        key, state = slot
        known = self._answers.get(key)
        return known if known is not None and known.state == state else None

    def add(self, slot: Slot, response: Response) -> None:
        """Remember an answer as it is now: headers that are added later are of one request alone."""
        length, (key, state) = len(response.body), slot
        if length > self._longest:
            return
        start = {"type": "http.response.start", "status": 200, "headers": list(response.raw_headers)}
        body = {"type": "http.response.body", "body": response.body}
        size = length + sum(map(len, key)) + _OVERHEAD
        self._forget(self._answers.pop(key, None))
        self._answers[key] = RememberedAnswer(state, start, body, size)
        self._bytes += size
        while self._bytes > self._most_bytes:
            self._forget(self._answers.popitem(last=False)[1])

    def _forget(self, gone: RememberedAnswer | None) -> None:
        self._bytes -= gone.size if gone is not None else 0


def _never(_value: str) -> bool:
    return False


def _again(first: Message, receive: Receive) -> Receive:
    """The same request from its beginning, the first message of which has been read."""
    waiting = [first]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
