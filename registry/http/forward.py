"""Forwarding a write to the leader, and the leader's answer to the client."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

import httpx
from starlette.responses import Response

from magicbyte.http.relay.headers import HeaderPolicy, names_of
from magicbyte.http.relay.relay import LongBody, Relay, RelayedAnswer, trace_headers
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.kit.processes.shared_call import SharedCall
from magicbyte.kit.traces.span import Kind
from magicbyte.kit.traces.tracing import span
from magicbyte.security.tls.context import outgoing_context
from registry import errors, metrics
from registry.http.answers import LeadersAnswer
from registry.http.offset_tokens import OFFSET_HEADER
from registry.http.request import write_of
from registry.http.spooled_body import SpooledBody
from registry.log.port import LeadershipLost
from registry.settings import RegistrySettings

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard
    from registry.http.forwarded_clients import ForwardedClients

log = logging.getLogger("magicbyte.registry.forward")

#: Marks a forwarded request, which is not forwarded again.
FORWARDED = "X-Forward"
_TOKEN = OFFSET_HEADER.decode()
#: The headers of requests that a leader needs, and those of its answers.
_SENT = ("content-type", "accept", "if-match", "traceparent", "tracestate", _TOKEN)
_ANSWERED = ("content-type", "retry-after", _TOKEN)
#: How many connections to the leader may be open.
_MOST_CONNECTIONS = 100
_LEADER_SECONDS = 10.0
_RETRY_SECONDS = 0.1


class Forwarder:
    """Sends a request to the leader; if the leader is lost before it answers, to the next one."""

    def __init__(
        self,
        leader_url: SharedCall[str | None],
        settings: RegistrySettings,
        senders: Guard | ForwardedClients | None = None,
    ) -> None:
        """Make a forwarder.

        Args:
            leader_url: Asks for the leader's URL.
            settings: The settings.
            senders: Signs who has sent a request; None if the nodes have no secret to sign with.
        """
        self._leader_url = leader_url
        self._signs = senders is not None
        self._allowed_urls = frozenset(settings.instance_urls)
        connect = settings.leader_connect_timeout_ms / 1000
        self._unhurried = httpx.Timeout(None, connect=connect)
        tls = outgoing_context(settings)
        self._relay = Relay(
            HeaderPolicy(names_of(*_SENT, *settings.forwarded_headers.split(",")), names_of(*_ANSWERED)),
            lambda: tls,
            httpx.Timeout(settings.leader_read_timeout_ms / 1000, connect=connect),
            senders,
            most_connections=_MOST_CONNECTIONS,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._relay.close()

    async def __call__(self, request: Request, error: Exception) -> Response:
        """Answer a request that this node can't take; see `forward`."""
        return await self.forward(request, error)

    async def forward(self, request: Request, error: Exception, body: SpooledBody | None = None) -> Response:
        """Answer a request that this node can't take.

        Args:
            request: The request.
            error: The NotLeader error that it raised.
            body: Its body, if it was spooled; there is then no read timeout.

        Raises:
            ApiError: 50003 if forwarding failed, 50004 if there is no leader.
        """
        if FORWARDED in request.headers:
            raise _no_leader(request)
        started, outcome = time.perf_counter(), "failed"
        try:
            response = await self._forward(request, error, body)
            outcome = "answered"
        finally:
            metrics.FORWARDED.labels(outcome).inc()
            metrics.FORWARD_SECONDS.observe(time.perf_counter() - started)
        return response

    async def _forward(self, request: Request, error: Exception, body: SpooledBody | None) -> Response:
        if isinstance(error, LeadershipLost) and not _may_repeat(request):
            raise _failed(request)
        deadline = time.monotonic() + _LEADER_SECONDS
        failure = _no_leader(request)
        while time.monotonic() < deadline:
            url = await self._trusted_leader(request)
            if url is not None:
                try:
                    answer = await self._send(request, url, body)
                except httpx.ConnectError:
                    failure = _failed(request)
                except (httpx.HTTPError, _LeaderChanged) as lost:
                    log.warning(
                        "%s did not answer %s: %r",
                        url,
                        request.url.path,
                        lost,
                        extra={"event": "forward_failed", "url": url, "path": request.url.path, "error": repr(lost)},
                    )
                    failure = _failed(request)
                    if not _may_repeat(request):
                        break
                else:
                    if answer.status != 500 or b'"error_code":50004' not in answer.content:
                        return answer.response(LeadersAnswer)
            await asyncio.sleep(_RETRY_SECONDS)
        raise failure

    async def _trusted_leader(self, request: Request) -> str | None:
        """The leader's URL, if there is one. Any client that may join the nodes' group in Kafka can claim to lead.

        Raises:
            ApiError: 50003 if the settings list the nodes and the leader is not in the list.
        """
        url = await self._leader_url()
        if url is not None and self._allowed_urls and url not in self._allowed_urls:
            log.error(
                "%s claims to lead, but is not among magicbyte.inter.instance.urls",
                url,
                extra={"event": "leader_untrusted", "url": url},
            )
            raise _failed(request)
        return url

    async def _send(self, request: Request, url: str, body: SpooledBody | None) -> RelayedAnswer:
        long_body, timeouts = None, None
        if body is not None:
            digest = await body.digest() if self._signs else None
            long_body, timeouts = LongBody(body.chunks(), body.size, digest), self._unhurried
        with span("forward", {"url.full": url}, kind=Kind.CLIENT) as forwarding:
            added = {b"x-request-id": request.request_id, FORWARDED.lower().encode(): "true", **trace_headers()}
            sending = asyncio.ensure_future(self._relay.ask(request, url, added, body=long_body, timeouts=timeouts))
            try:
                while not sending.done():
                    await asyncio.wait([sending], timeout=1.0)
                    if not sending.done() and await self._leader_url() not in (url, None):
                        raise _LeaderChanged(url)
                answer = sending.result()
            finally:
                sending.cancel()
            if forwarding is not None:
                forwarding.attributes["http.response.status_code"] = answer.status
            return answer


def _may_repeat(request: Request) -> bool:
    """Whether a repeated request returns the same answer, even if the first one took effect."""
    return write_of(request).is_repeatable and "if-match" not in request.headers


class _LeaderChanged(Exception):
    """Another node leads now: the former leader's answer will be lost or invalid."""


def _no_leader(request: Request) -> ApiError:
    return errors.UPDATE_WITHOUT_LEADER(text=write_of(request).no_leader)


def _failed(request: Request) -> ApiError:
    return errors.FORWARDING_FAILED(operation=write_of(request).forwarded)
