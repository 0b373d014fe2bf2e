"""Webhooks: changes posted to URLs that the settings name, by the node that writes."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
from collections.abc import Callable, Sequence

import httpx
import orjson

from registry.changes import Change, TooOld, changes_since
from registry.view import View

log = logging.getLogger("magicbyte.registry.webhooks")

SIGNATURE = "X-Magicbyte-Signature"
_LOOK_SECONDS = 0.2
_POST_SECONDS = 10.0
#: How long to wait before each further attempt; after the last, the change is given up and logged.
_PAUSES = (0.5, 2.0, 8.0)


class Webhooks:
    """Follows the view from where it stands, and posts each change to every URL, in order.

    A body is the JSON of a change, signed with HMAC-SHA256 in `X-Magicbyte-Signature: sha256=HEX` where there is a
    secret. Anything but a 2xx is tried again a few times. What happens while no node runs is not posted: receivers that
    must not miss anything follow `/events` with the last offset that they saw.
    """

    def __init__(self, view: View, urls: Sequence[str], secret: str | None, leads: Callable[[], bool]) -> None:
        self._view = view
        self._urls = urls
        self._secret = secret
        self._leads = leads

    async def run(self) -> None:
        """Post changes until cancelled."""
        offset = self._view.offset
        async with httpx.AsyncClient(timeout=_POST_SECONDS) as client:
            while True:
                await asyncio.sleep(_LOOK_SECONDS)
                end = self._view.offset
                if end == offset:
                    continue
                changes = self._changes(offset, end)
                offset = end
                leads = await asyncio.to_thread(self._leads)
                if leads and changes:
                    await asyncio.gather(*(self._post_all(client, url, changes) for url in self._urls))

    def _changes(self, after: int, until: int) -> list[Change]:
        try:
            return [change for change in changes_since(self._view, after) if change.offset <= until]
        except TooOld as error:
            log.error("changes were not posted: %s", error)  # noqa: TRY400  the text says it all
            return []

    async def _post_all(self, client: httpx.AsyncClient, url: str, changes: Sequence[Change]) -> None:
        for change in changes:
            body = orjson.dumps(change.to_json())
            headers = {"Content-Type": "application/json"}
            if self._secret:
                digest = hmac.new(self._secret.encode(), body, hashlib.sha256).hexdigest()
                headers[SIGNATURE] = f"sha256={digest}"
            await self._post(client, url, body, headers)

    async def _post(self, client: httpx.AsyncClient, url: str, body: bytes, headers: dict[str, str]) -> None:
        problem = ""
        for pause in (*_PAUSES, None):
            try:
                answered = await client.post(url, content=body, headers=headers)
                if answered.is_success:
                    return
                problem = f"HTTP {answered.status_code}"
            except httpx.HTTPError as error:
                problem = str(error) or type(error).__name__
            if pause is not None:
                await asyncio.sleep(pause)
        log.error("webhook %s did not take a change: %s; the change was %s", url, problem, body.decode())
