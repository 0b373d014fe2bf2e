"""Read your writes on any node: answers to writes carry a token, and requests that send it back wait for its offset."""

from __future__ import annotations

import asyncio
import logging
import re

from starlette.responses import Response

from magicbyte.http.asgi import list_header
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.kit.shared_call import SharedCall
from registry import errors
from registry.cluster.node import Node
from registry.http.answers import LeadersAnswer
from registry.log.port import LogError, Offset

log = logging.getLogger("magicbyte.registry.tokens")

#: The header of requests and answers that holds a token, `<log id>:<offset>`; in lower case, as ASGI has it.
OFFSET_HEADER = b"x-magicbyte-offset"
#: How long a request waits for the offset of its token, in seconds.
WAIT_SECONDS = 5.0
#: How long to wait before asking the log again for an offset that it did not hold, in seconds.
_PAUSE_SECONDS = 0.05
_OFFSET = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_READS = frozenset({"GET", "HEAD"})


class OffsetTokens:
    """The tokens of one node: the one that stands for its view, and whether its view holds what another stands for."""

    def __init__(self, node: Node, sync: SharedCall[None]) -> None:
        """Make the tokens of a node.

        Args:
            node: The node.
            sync: Has it read its log to the end, for all who wait at the time.
        """
        self._node = node
        self._sync = sync

    def current(self) -> bytes:
        """The token of the last entry that the view holds."""
        return f"{self._node.log_id}:{self._node.view.offset}".encode()

    def is_met(self, value: str) -> bool:
        """Tell whether the view holds what a header's value asks for; a malformed value asks for what nobody holds."""
        try:
            return self._node.holds(self._offset_in(value))
        except ApiError:
            return False

    async def wait(self, value: str) -> None:
        """Wait until the view holds what a header's value asks for.

        Args:
            value: A token, or several with commas between. Tokens of other logs are ignored.

        Raises:
            ApiError: 400 if the value is malformed, 503 if the view does not hold the offset in time.
        """
        offset = self._offset_in(value)
        if self._node.holds(offset):
            return
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._reach(offset)
        except TimeoutError:
            error = errors.NODE_BEHIND(offset=offset, seconds=int(WAIT_SECONDS))
            raise error.with_headers(Retry_After="1") from None

    def _offset_in(self, value: str) -> Offset:
        """The highest offset of this node's log; -1, which every view holds, if there is none."""
        highest = -1
        for token in value.split(","):
            log_id, _, offset = token.strip().rpartition(":")
            if not log_id or not _OFFSET.fullmatch(offset):
                raise errors.INVALID_PARAMETER(detail=f"X-Magicbyte-Offset: {value[:100]!r} is not <log id>:<offset>")
            if log_id == self._node.log_id:
                highest = max(highest, int(offset))
        return highest

    async def await_token(self, request: Request) -> None:
        """Have a request wait for the offset of its token, if it has one.

        Raises:
            ApiError: As `wait`.
        """
        value = list_header(request.scope, OFFSET_HEADER)
        if value is not None:
            await self.wait(value)

    def give_token(self, request: Request, response: Response) -> None:
        """Put the node's token into answers to all but GET and HEAD; one of the leader's stays."""
        if request.method not in _READS and not isinstance(response, LeadersAnswer):
            response.raw_headers.append((OFFSET_HEADER, self.current()))

    async def _reach(self, offset: Offset) -> None:
        while True:
            try:
                await self._sync()
            except LogError as error:
                log.warning("the log can't be read: %s", error)
            if self._node.holds(offset):
                return
            await asyncio.sleep(_PAUSE_SECONDS)
