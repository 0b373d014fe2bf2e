"""Forwarding a write to the leader, and the leader's answer to the client."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

import httpx
from starlette.responses import Response

from magicbyte.http.routing.identity import IDENTITY, digest_of, target_of
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.kit.processes.shared_call import SharedCall
from magicbyte.security.tls.context import outgoing_context
from registry import errors
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
_PASSED_ON = ("content-type", "accept", "if-match", "x-request-id", "traceparent", _TOKEN)
_RELAYED = ("content-type", "retry-after", _TOKEN)
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
        self._senders = senders
        self._allowed_urls = frozenset(settings.instance_urls)
        headers = settings.forwarded_headers.lower().split(",")
        self._passed_on = (*_PASSED_ON, *(name.strip() for name in headers if name.strip()))
        connect = settings.leader_connect_timeout_ms / 1000
        self._timeout = httpx.Timeout(settings.leader_read_timeout_ms / 1000, connect=connect)
        self._unhurried = httpx.Timeout(None, connect=connect)
        self._client = httpx.AsyncClient(trust_env=False, verify=outgoing_context(settings))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

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
                    log.warning("%s did not answer %s: %r", url, request.url.path, lost)
                    failure = _failed(request)
                    if not _may_repeat(request):
                        break
                else:
                    if answer.status_code != 500 or b'"error_code":50004' not in answer.content:
                        return _relayed(answer)
            await asyncio.sleep(_RETRY_SECONDS)
        raise failure

    async def _trusted_leader(self, request: Request) -> str | None:
        """The leader's URL, if there is one. Any client that may join the nodes' group in Kafka can claim to lead.

        Raises:
            ApiError: 50003 if the settings list the nodes and the leader is not in the list.
        """
        url = await self._leader_url()
        if url is not None and self._allowed_urls and url not in self._allowed_urls:
            log.error("%s claims to lead, but is not among magicbyte.inter.instance.urls", url)
            raise _failed(request)
        return url

    async def _send(self, request: Request, url: str, body: SpooledBody | None) -> httpx.Response:
        headers = {
            name: ", ".join(request.headers.getlist(name)) for name in self._passed_on if name in request.headers
        }
        headers |= {"x-request-id": request.request_id, FORWARDED: "true"}
        if body is not None:
            headers["content-length"] = str(body.size)
        if self._senders is not None:
            digest = digest_of(await request.body()) if body is None else await body.digest()
            headers[IDENTITY.decode()] = self._senders.proof(request, target_of(request.scope), digest)
        sending = asyncio.ensure_future(
            self._client.request(
                request.method,
                url + target_of(request.scope),
                content=await request.body() if body is None else body.chunks(),
                headers=headers,
                timeout=self._timeout if body is None else self._unhurried,
            )
        )
        try:
            while not sending.done():
                await asyncio.wait([sending], timeout=1.0)
                if not sending.done() and await self._leader_url() not in (url, None):
                    raise _LeaderChanged(url)
            return sending.result()
        finally:
            sending.cancel()


def _may_repeat(request: Request) -> bool:
    """Whether a repeated request returns the same answer, even if the first one took effect."""
    return write_of(request).is_repeatable and "if-match" not in request.headers


class _LeaderChanged(Exception):
    """Another node leads now: the former leader's answer will be lost or invalid."""


def _no_leader(request: Request) -> ApiError:
    return errors.UPDATE_WITHOUT_LEADER(text=write_of(request).no_leader)


def _failed(request: Request) -> ApiError:
    return errors.FORWARDING_FAILED(operation=write_of(request).forwarded)


def _relayed(answer: httpx.Response) -> Response:
    headers = {name: answer.headers[name] for name in _RELAYED if name in answer.headers}
    return LeadersAnswer(answer.content, answer.status_code, headers=headers)
