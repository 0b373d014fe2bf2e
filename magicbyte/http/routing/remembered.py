"""A cache of answers, each valid as long as the state is the one it was computed from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from starlette.responses import Response

from magicbyte.http.asgi import Message, Receive, Scope, header
from magicbyte.security.principal import Principal

#: Principal, raw path, query string, Accept, Content-Type, and the body of a POST.
Key = tuple[str, bytes, bytes, bytes, bytes, bytes]
#: The approximate memory of an answer in addition to its bytes.
_OVERHEAD = 1500
#: Everything that an answer depends on: the request, and the state when the request arrived.
Slot = tuple[Key, Hashable]


@dataclass(frozen=True, slots=True)
class RememberedAnswer:
    """An answer with status 200, and the state it was computed from."""

    state: Hashable
    start: Message
    body: Message
    size: int


class RememberedAnswers:
    """The cached answers of rows with `is_remembered`, by everything in the request that such an answer depends on.

    Requests with an X-Request-Id header are not answered from the cache, because their answers repeat the id.
    """

    def __init__(
        self,
        state: Callable[[], Hashable],
        conditions: Mapping[bytes, Callable[[str], bool]],
        *,
        most_bytes: int = 64 << 20,
        longest: int = 64 << 10,
    ) -> None:
        """Make an empty cache.

        Args:
            state: Returns a value that changes with the state.
            conditions: Request header, in lower case -> tells which of its values allow a cached answer.
            most_bytes: The largest size of the cache.
            longest: The longest cached body of a request or an answer, in bytes.
        """
        self._state = state
        self._conditions = {b"x-request-id": _never, **conditions}
        self._relevant_headers = frozenset({b"accept", b"content-type", *self._conditions})
        self._most_bytes = most_bytes
        self._longest = longest
        self._bytes = 0
        #: How many look-ups found an answer, and how many did not.
        self.hits = self.misses = 0
        self._answers: OrderedDict[Key, RememberedAnswer] = OrderedDict()

    def slot(self, principal: Principal, scope: Scope) -> Slot | None:
        """Return what the answer depends on except the request's body; None if the headers forbid a cached answer."""
        accept = content_type = b""
        for name, value in scope["headers"]:
            if name not in self._relevant_headers:
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
        """Add the body to a slot, None if it is long or in parts; return it and a `Receive` that still has the body."""
        length = header(scope, b"content-length")
        if length is None or not length.isdigit() or int(length) > self._longest:
            return None, receive
        first = await receive()
        receive = _again(first, receive)
        if first["type"] != "http.request" or first.get("more_body"):
            return None, receive
        # An empty body must not get the slot of a GET.
        body = first.get("body", b"") or b" "
        key, state = slot
        return ((*key[:5], body), state), receive

    def find(self, slot: Slot) -> RememberedAnswer | None:
        """Return the answer given before in the same state, if any."""
        key, state = slot
        answer = self._answers.get(key)
        if answer is not None and answer.state == state:
            self.hits += 1
            return answer
        self.misses += 1
        return None

    def add(self, slot: Slot, response: Response) -> None:
        """Cache an answer as it is now: headers that are added later belong to one request only."""
        length, (key, state) = len(response.body), slot
        if length > self._longest:
            return
        # As a tuple: the connection keeps the head of such an answer.
        start = {"type": "http.response.start", "status": 200, "headers": tuple(response.raw_headers)}
        body = {"type": "http.response.body", "body": response.body}
        size = length + sum(map(len, key)) + _OVERHEAD
        self._forget(self._answers.pop(key, None))
        self._answers[key] = RememberedAnswer(state, start, body, size)
        self._bytes += size
        while self._bytes > self._most_bytes:
            self._forget(self._answers.popitem(last=False)[1])

    def _forget(self, answer: RememberedAnswer | None) -> None:
        self._bytes -= answer.size if answer is not None else 0


def _never(_value: str) -> bool:
    return False


def _again(first: Message, receive: Receive) -> Receive:
    """Return a `Receive` that yields the message already read, then the rest."""
    pending = [first]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again
