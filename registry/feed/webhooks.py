"""Webhooks: one of the nodes on a log posts the changes to the URLs in the settings."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from collections.abc import Callable, Sequence

import httpx
import orjson

from magicbyte.kit.secret import hide_user_info
from magicbyte.kit.traces.current import outgoing_headers
from magicbyte.kit.traces.span import Kind
from magicbyte.kit.traces.tracing import span
from registry import metrics
from registry.cluster.commit.handover import Handover
from registry.cluster.node import Node
from registry.decide import Decision
from registry.feed.changes import Change, TooOld, changes_since
from registry.feed.growth import Growth
from registry.feed.outgoing import ForbiddenAddress, post_to_allowed
from registry.log.port import LogError, Record
from registry.state import records
from registry.state.model import Posted
from registry.state.records import Key
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.webhooks")

SIGNATURE = "X-Magicbyte-Signature"
_LOOK_SECONDS = 0.2
#: How long the task waits for the log to grow before it looks again, in seconds.
_IDLE_SECONDS = 15.0
_POST_SECONDS = 10.0
#: The pauses before further attempts, in seconds; after the last attempt, the change is logged and skipped.
_PAUSES = (0.5, 2.0, 8.0)
#: How many changes are posted between two marks in the log, at most.
_MOST_CHANGES = 100
#: How often a posting node renews its mark if posting takes long, and how long other nodes wait for a new mark.
_SIGN_SECONDS = 5.0
PATIENCE_SECONDS = 15.0


class Webhooks:
    """Posts each change to every URL, in order.

    A body is the JSON of a change. If there is a secret, `X-Magicbyte-Signature: sha256=HEX` has its HMAC-SHA256.
    Any response but a 2xx is retried a few times.

    Marks in the log name the node that posts, and the offset that it has posted up to. If that node writes no mark for
    too long, another node continues. So each change is posted at least once, and twice only if a node stopped or was
    slow between posting and writing its mark.
    """

    def __init__(
        self,
        node: Node,
        urls: Sequence[str],
        secret: str | None,
        *,
        name: str,
        leads: Callable[[], bool],
        growth: Growth,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Prepare to post.

        Args:
            node: The node, whose view has the changes and whose log takes the marks.
            urls: The URLs to post to.
            secret: The key that signs the bodies; None for no signature.
            name: The node's name, which stays the same when the node restarts.
            leads: Returns whether the node may write.
            growth: Wakes the task when the log has grown.
            patience: How long another node may write no mark before this node takes its turn, in seconds.
        """
        self._node = node
        self._urls = urls
        self._secret = secret
        self._name = name
        self._leads = leads
        self._growth = growth
        self._patience = patience
        #: Used if the log has no mark: the offset at which the first posting begins.
        self._unposted = Posted("", -1, -1)
        #: The offset that this node has posted up to, which its mark may not show yet.
        self._posted = -1
        self._nothing_until = -1
        #: The last mark of another node, and when this node saw it first.
        self._heard: tuple[Posted, float] | None = None
        self._handover = Handover()

    @property
    def _view(self) -> View:
        return self._node.view

    async def run(self) -> None:
        """Post changes until cancelled."""
        self._unposted = Posted("", self._view.offset, -1)
        async with httpx.AsyncClient(timeout=_POST_SECONDS, trust_env=False) as client:
            while True:
                if self._view.offset == self._nothing_until:
                    await self._growth.wait(self._nothing_until, _IDLE_SECONDS)
                # Changes that come together are posted together, and another node gets the time to write its mark.
                await asyncio.sleep(_LOOK_SECONDS)
                try:
                    if self._view.offset != self._nothing_until:
                        await self._look(client)
                except Exception:  # this task must not end: it posts all changes
                    log.exception("changes could not be posted now", extra={"event": "webhooks_failed"})

    async def _look(self, client: httpx.AsyncClient) -> None:
        end, mark = self._view.offset, self._mark(self._view)
        changes = self._changes(max(mark.offset, self._posted))
        if not changes:
            self._nothing_until = end
            metrics.WEBHOOK_LAG.set(0)
            return
        if not (await asyncio.to_thread(self._leads) and await self._has_the_turn(mark)):
            metrics.WEBHOOK_LAG.set(0)
            return
        metrics.WEBHOOK_LAG.set(len(changes))
        changes = changes[:_MOST_CHANGES]
        posting = asyncio.gather(*(self._post_all(client, url, changes) for url in self._urls))
        try:
            while not (await asyncio.wait([posting], timeout=_SIGN_SECONDS))[0]:
                await self._say(mark.offset)
            await posting
        finally:
            posting.cancel()
        self._posted = changes[-1].offset
        await self._say(self._posted)

    def _mark(self, view: View) -> Posted:
        return view.posted or self._unposted

    def _changes(self, after: int) -> list[Change]:
        try:
            return changes_since(self._view, after, compacted=True)
        except TooOld as error:
            log.error("changes were not posted: %s", error, extra={"event": "changes_not_posted", "error": str(error)})  # noqa: TRY400  the text says it all
            self._posted = self._view.offset
            return []

    async def _has_the_turn(self, mark: Posted) -> bool:
        """Tell whether this node posts; it takes over from a node that has written no mark for too long."""
        if mark.node == self._name:
            return True
        now = time.monotonic()
        if self._heard is None or self._heard[0] != mark:
            self._heard = (mark, now)
        silent = not mark.node or now - self._heard[1] >= self._patience
        return silent and await self._say(mark.offset, instead_of=mark)

    async def _say(self, offset: int, *, instead_of: Posted | None = None) -> bool:
        """Write a mark that this node has posted up to an offset, unless another node posts; returns whether it did."""

        def mark(view: View, now: int) -> Decision[bool]:
            current = self._mark(view)
            if current.node != self._name and current != instead_of:
                return Decision(result=False)
            key = view.key_bytes(Key(records.POSTED))
            return Decision(result=True, records=(Record(key, records.encode_posted(self._name, offset), now),))

        try:
            return await self._handover.wait(self._node.submit(mark))
        except LogError as error:
            log.warning(
                "the mark of posted changes could not be written: %s",
                error,
                extra={"event": "webhook_mark_failed", "error": str(error)},
            )
            return False

    async def _post_all(self, client: httpx.AsyncClient, url: str, changes: Sequence[Change]) -> None:
        pauses: Sequence[float] = _PAUSES
        for change in changes:
            body = orjson.dumps(change.to_json())
            headers = {"Content-Type": "application/json"}
            if self._secret:
                digest = hmac.new(self._secret.encode(), body, hashlib.sha256).hexdigest()
                headers[SIGNATURE] = f"sha256={digest}"
            accepted = await self._post(client, url, body, headers, pauses)
            # If all attempts failed, the next changes get a single attempt until one succeeds.
            pauses = _PAUSES if accepted else ()

    async def _post(
        self, client: httpx.AsyncClient, url: str, body: bytes, headers: dict[str, str], pauses: Sequence[float]
    ) -> bool:
        problem = ""
        for pause in (*pauses, None):
            try:
                with span("webhook", {"url.full": hide_user_info(url)}, kind=Kind.CLIENT) as posting:
                    response = await post_to_allowed(client, url, body, {**headers, **outgoing_headers()})
                    if posting is not None:
                        posting.attributes["http.response.status_code"] = response.status_code
                if response.is_success:
                    metrics.WEBHOOK_POSTED.inc()
                    return True
                problem = f"HTTP {response.status_code}"
            except (httpx.HTTPError, OSError, ForbiddenAddress) as error:
                problem = str(error) or type(error).__name__
            metrics.WEBHOOK_FAILED.inc()
            if pause is not None:
                await asyncio.sleep(pause)
        metrics.WEBHOOK_GIVEN_UP.inc()
        log.error(
            "webhook %s did not take a change: %s; the change was %s",
            hide_user_info(url),
            problem,
            body.decode(),
            extra={"event": "webhook_given_up", "url": hide_user_info(url), "error": problem},
        )
        return False
