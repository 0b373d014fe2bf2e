"""Passing a write on to the leader, and its answer back."""

from __future__ import annotations

import asyncio
import logging
import time

import httpx
from fastapi import Request, Response

from magicbyte.errors import ApiError
from magicbyte.shared_call import SharedCall
from registry import errors
from registry.http.answers import error_response
from registry.http.offset_tokens import OFFSET_HEADER
from registry.http.spooled_body import SpooledBody
from registry.log.port import LeadershipLost
from registry.settings import RegistrySettings

log = logging.getLogger("magicbyte.registry.forward")

#: Marks a request as passed on once; it is not passed on again.
FORWARDED = "X-Forward"
_TOKEN = OFFSET_HEADER.decode()
_PASSED_ON = ("content-type", "accept", "authorization", "if-match", "x-request-id", "traceparent", _TOKEN)
_RELAYED = ("content-type", "retry-after", _TOKEN)
#: Requests that may be sent again to another leader where the first one's answer was lost.
_REPEATABLE = frozenset({"POST", "PUT"})
_LEADER_SECONDS = 10.0
_RETRY_SECONDS = 0.1


class Forwarder:
    """Sends a request to whoever leads, again to the next leader where the first is gone before it answered."""

    def __init__(self, leader_url: SharedCall[str | None], settings: RegistrySettings) -> None:
        self._leader_url = leader_url
        headers = settings.forwarded_headers.lower().split(",")
        self._passed_on = (*_PASSED_ON, *(name.strip() for name in headers if name.strip()))
        connect = settings.leader_connect_timeout_ms / 1000
        self._timeout = httpx.Timeout(settings.leader_read_timeout_ms / 1000, connect=connect)
        self._unhurried = httpx.Timeout(None, connect=connect)
        self._client = httpx.AsyncClient(trust_env=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def __call__(self, request: Request, error: Exception) -> Response:
        """Answer a request that this node can't take, as an exception handler of NotLeader."""
        return await self.forward(request, error)

    async def forward(self, request: Request, error: Exception, body: SpooledBody | None = None) -> Response:
        """Answer a request that this node can't take.

        Args:
            request: The request.
            error: The NotLeader that it ran into.
            body: Its body, if it was spooled; the leader then may take as long as it needs.
        """
        if FORWARDED in request.headers:
            return error_response(request, _no_leader(request))
        if isinstance(error, LeadershipLost) and not _may_repeat(request):
            return error_response(request, _failed(request))
        deadline = time.monotonic() + _LEADER_SECONDS
        failure = _no_leader(request)
        while time.monotonic() < deadline:
            url = await self._leader_url()
            if url is not None:
                try:
                    answered = await self._send(request, url, body)
                except httpx.ConnectError:
                    failure = _failed(request)
                except (httpx.HTTPError, _LeaderChanged) as lost:
                    log.warning("%s did not answer %s: %r", url, request.url.path, lost)
                    failure = _failed(request)
                    if not _may_repeat(request):
                        break
                else:
                    if answered.status_code != 500 or b'"error_code":50004' not in answered.content:
                        request.scope.setdefault("state", {})["forwarded"] = True
                        return _relayed(answered)
            await asyncio.sleep(_RETRY_SECONDS)
        return error_response(request, failure)

    async def _send(self, request: Request, url: str, body: SpooledBody | None) -> httpx.Response:
        path = request.scope["raw_path"].decode("latin-1")
        query = request.scope["query_string"].decode("latin-1")
        headers = {
            name: ", ".join(request.headers.getlist(name)) for name in self._passed_on if name in request.headers
        }
        request_id = request.scope.get("state", {}).get("request_id")
        headers |= {**({"x-request-id": request_id} if request_id else {}), FORWARDED: "true"}
        if body is not None:
            headers["content-length"] = str(body.size)
        sending = asyncio.ensure_future(
            self._client.request(
                request.method,
                f"{url}{path}{'?' if query else ''}{query}",
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
    """Whether a request that may have taken effect already has the same answer when it is sent again."""
    return request.method in _REPEATABLE and "if-match" not in request.headers


class _LeaderChanged(Exception):
    """Another node leads now: the answer that is waited for will not come, or not hold."""


#: First segment of a settings path -> what the reference calls it when there is no leader, and when one is gone.
_SETTINGS = {"config": ("compatibility level", "config"), "mode": ("mode", "mode")}
_VERBS = {"POST": "register", "PUT": "update", "DELETE": "delete"}
#: What is deleted, by the number of a path's segments.
_DELETED = {2: "subject", 4: "schema version"}


def _segments(request: Request) -> list[str]:
    return str(request.scope["path"]).strip("/").split("/")


def _no_leader(request: Request) -> ApiError:
    found = _SETTINGS.get(_segments(request)[0])
    if found is None:
        return errors.UNKNOWN_LEADER()
    return errors.UPDATE_WITHOUT_LEADER(text=f"Failed to {_VERBS[request.method]} {found[0]}")


def _failed(request: Request) -> ApiError:
    noun, *rest = _segments(request)
    schemas = _DELETED.get(1 + len(rest), "schema") if request.method == "DELETE" else "schema"
    _, name = _SETTINGS.get(noun, ("", schemas))
    return errors.FORWARDING_FAILED(operation=f"{_VERBS.get(request.method, 'update')} {name}")


def _relayed(answered: httpx.Response) -> Response:
    headers = {name: answered.headers[name] for name in _RELAYED if name in answered.headers}
    return Response(answered.content, answered.status_code, headers=headers)
