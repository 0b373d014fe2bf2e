"""The fast path for produce: what the documented route does, without the framework around it."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from magicbyte.errors import ApiError
from magicbyte.http.asgi import ASGIApp, Receive, Scope, Send, access_log
from magicbyte.http.errors import INTERNAL
from rest_proxy.codecs import Options
from rest_proxy.dialect import Dialect
from rest_proxy.formats import EmbeddedFormat
from rest_proxy.http.metrics import Metrics
from rest_proxy.http.negotiation import MEDIA_TYPES, json_bytes
from rest_proxy.http.produce import ACKS
from rest_proxy.producing import Produce
from rest_proxy.proxy import Proxy
from rest_proxy.settings import RestProxySettings

log = logging.getLogger("rest_proxy.produce")

_PREFIX = b"/topics/"
ROUTE = "/topics/{topic}"
#: Content types that name version and format, as they stand in most requests.
_PLAIN_TYPES: dict[bytes, tuple[Dialect, EmbeddedFormat]] = {
    essence.encode(): (spoken.dialect, spoken.form)
    for essence, spoken in MEDIA_TYPES.items()
    if spoken.form is not None
}


class FastProduce:
    """Serves produce requests to a topic that ask for nothing special; the rest goes to the application.

    Special are a query, an id of the client's own, an Accept other than the default, and bodies over the limit. What
    fails is logged; of what succeeds there is a line where the log is to tell all (`debug`).
    """

    def __init__(self, app: ASGIApp, state: Any, settings: RestProxySettings, metrics: Metrics) -> None:
        self.app = app
        self._state = state
        self._metrics = metrics
        self._max_bytes = settings.request_max_bytes
        self._acks = ACKS[settings.acks]
        self._log_all = settings.debug
        self._timeout_ms = settings.produce_timeout_ms
        self._options = Options(plain_unions=settings.avro_unions == "plain")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        spoken = self._plain(scope)
        if spoken is None:
            await self.app(scope, receive, send)
            return
        dialect, form = spoken
        chunks: list[bytes] = []
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            chunks.append(message["body"])
            if not message.get("more_body"):
                break
        proxy: Proxy = self._state.proxy
        with self._metrics.timed("POST", ROUTE) as timed:
            try:
                status, content = await proxy.producing.produce(
                    Produce(
                        dialect,
                        form,
                        unquote(scope["raw_path"][len(_PREFIX) :].decode("latin-1")),
                        None,
                        chunks[0] if len(chunks) == 1 else b"".join(chunks),
                        self._acks,
                        self._timeout_ms,
                        self._options,
                    )
                )
                headers: list[tuple[bytes, bytes]] = []
            except ApiError as error:
                status, content = error.status, json_bytes(error.body())
                headers = [(name.lower().encode(), value.encode()) for name, value in error.headers.items()]
            except Exception:
                log.exception("%s failed", scope["raw_path"])
                status, content, headers = 500, json_bytes(INTERNAL().body()), []
            timed.status = status
        if status >= HTTPStatus.BAD_REQUEST:
            path = scope["raw_path"].decode("latin-1")
            access_log.info("POST %s %d", path, status, extra={"method": "POST", "path": path, "status": status})
        headers.append((b"content-length", b"%d" % len(content)))
        headers.append((b"content-type", dialect.generic.encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _plain(self, scope: Scope) -> tuple[Dialect, EmbeddedFormat] | None:
        if scope["type"] != "http" or scope["method"] != "POST" or scope["query_string"] or self._log_all:
            return None
        raw = scope["raw_path"]
        if not raw.startswith(_PREFIX) or b"/" in raw[len(_PREFIX) :] or len(raw) == len(_PREFIX):
            return None
        spoken = None
        length = -1
        for name, value in scope["headers"]:
            if name == b"content-type":
                spoken = _PLAIN_TYPES.get(value)
            elif name == b"content-length":
                length = int(value) if value.isdigit() else -1
            elif name == b"x-request-id" or (name == b"accept" and value != b"*/*"):
                return None
        return spoken if 0 <= length <= self._max_bytes else None
