"""Read your writes on any node: writes return an offset token, and a request with a token waits for its offset."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable

from starlette.responses import Response

from magicbyte.http.asgi import list_header
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Row
from magicbyte.kit.errors import ApiError
from magicbyte.kit.processes.shared_call import SharedCall
from registry import errors
from registry.cluster.node import Node
from registry.http.answers import LeadersAnswer
from registry.http.request import RIGHTS
from registry.http.sealed_offsets import OffsetSeal
from registry.log.port import LogError, Offset

log = logging.getLogger("magicbyte.registry.tokens")

#: The header of an offset token, `<log id>:<offset>` or `~<sealed offset>:<time>`; in lower case, as in ASGI.
OFFSET_HEADER = b"x-magicbyte-offset"
#: How long a request waits for the offset of its token, in seconds.
WAIT_SECONDS = 5.0
#: The pause before the log is read again if it did not reach the offset, in seconds.
_PAUSE_SECONDS = 0.05
_OFFSET = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_READS = frozenset({"GET", "HEAD"})


class OffsetTokens:
    """The offset tokens of one node: returns the token of its view, and waits until its view reaches another token.

    If there are access rules, offsets in tokens are sealed: they would tell a client how much is written to subjects
    that it may not see. The time, in microseconds, tells clients which token is newer.
    """

    def __init__(self, node: Node, sync: SharedCall[None], seal: OffsetSeal | None = None) -> None:
        """Make the tokens of a node.

        Args:
            node: The node.
            sync: Reads the log to its end; concurrent calls share one read.
            seal: Seals offsets; None if every client may know them.
        """
        self._node = node
        self._sync = sync
        self._seal = seal

    def current(self) -> bytes:
        """The token of the last entry in the view."""
        offset = self._node.view.offset
        if self._seal is None:
            return f"{self._node.log_id}:{offset}".encode()
        return f"~{self._seal.seal(offset)}:{time.time_ns() // 1000}".encode()

    def is_met(self, value: str) -> bool:
        """Tell whether the view has reached the offset of a header's value; False if the value is malformed.

        It is also False if only some clients may wait for the offset: then `wait` decides.
        """
        if self._seal is not None and f"{self._node.log_id}:" in value:
            return False
        try:
            return self._node.holds(self._offset_in(value))
        except ApiError:
            return False

    async def wait(self, value: str, *, may_know_offsets: bool = True) -> None:
        """Wait until the view has reached the offset of a header's value.

        Args:
            value: A token, or several separated by commas. Tokens of other logs are ignored.
            may_know_offsets: Whether the sender may know the log's offsets. If not, only sealed ones are waited for:
                the wait for any number would tell where the log ends.

        Raises:
            ApiError: 400 if the value is malformed, 503 if the view does not reach the offset in time.
        """
        offset = self._offset_in(value, may_know_offsets=may_know_offsets)
        if not self._node.holds(offset) and not await self._reads_until(lambda: self._node.holds(offset)):
            place = f"offset {offset}" if may_know_offsets else "the offset of the token"
            raise errors.NODE_BEHIND(place=place, seconds=int(WAIT_SECONDS)).with_headers(Retry_After="1")

    def _offset_in(self, value: str, *, may_know_offsets: bool = True) -> Offset:
        """The highest offset of this node's log; -1, which every view has reached, if there is none."""
        highest = -1
        for token in value.split(","):
            log_id, _, offset = token.strip().rpartition(":")
            if not log_id or not _OFFSET.fullmatch(offset):
                raise errors.INVALID_PARAMETER(detail=f"X-Magicbyte-Offset: {value[:100]!r} is not <log id>:<offset>")
            if log_id.startswith("~") and self._seal is not None:
                opened = self._seal.open(log_id[1:])
                highest = highest if opened is None else max(highest, opened)
            elif log_id == self._node.log_id and may_know_offsets:
                highest = max(highest, int(offset))
        return highest

    def state(self) -> object:
        """A value that changes with the view; a new one each time while the view may not be served."""
        return self._node.view.offset if self._node.is_current else object()

    async def await_token(self, request: Request) -> None:
        """Wait until the view may be served, and has reached the offset of the request's token, if it has one.

        Raises:
            ApiError: As `wait`, or 503 if the view may not be served in time.
        """
        if not self._node.is_current and _reads_view(request.row):
            await self._await_current()
        value = list_header(request.scope, OFFSET_HEADER)
        if value is not None:
            rights = request.scope.get(RIGHTS)
            await self.wait(value, may_know_offsets=rights is None or rights.may("DESCRIBE", None))

    def give_token(self, request: Request, response: Response) -> None:
        """Put the node's token into the answer to a write, unless it is the leader's answer with the leader's token."""
        if request.method not in _READS and not isinstance(response, LeadersAnswer):
            response.raw_headers.append((OFFSET_HEADER, self.current()))

    async def _await_current(self) -> None:
        if not await self._reads_until(lambda: self._node.is_current):
            raise errors.NODE_SUSPENDED(seconds=int(WAIT_SECONDS)).with_headers(Retry_After="1")

    async def _reads_until(self, is_met: Callable[[], bool]) -> bool:
        """Read the log until a condition is met; False if that takes too long."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while True:
                    try:
                        await self._sync()
                    except LogError as error:
                        log.warning(
                            "the log can't be read: %s", error, extra={"event": "log_unreadable", "error": str(error)}
                        )
                    if is_met():
                        return True
                    await asyncio.sleep(_PAUSE_SECONDS)
        except TimeoutError:
            return False


def _reads_view(row: Row) -> bool:
    """Tell whether a route answers from the view: not the health checks, the metrics and the pages."""
    return not row.needs_sign_in_at_most and row.operation_id != "metrics"
