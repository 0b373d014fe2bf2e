"""Several GETs of the registry in one request: a view asks them at once, and each would take a round trip."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
import orjson
from msgspec import Meta
from starlette.responses import Response, StreamingResponse

from magicbyte.http.asgi import Scope
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.ui import errors
from magicbyte.ui.decode import ReadRegistry
from magicbyte.ui.messages.exchange import Question, Reply
from magicbyte.ui.paths import FOLDER, has_dot_segments, is_endless

#: The most GETs of a request.
MOST_PATHS = 16
_LARGEST_BODY = 64 << 10
#: Answers of a request that may be in memory at once.
_MOST_AT_ONCE = 4
_ACCEPT = "application/json"


class TogetherRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The GETs."""

    paths: Annotated[
        list[str],
        Meta(
            min_length=1,
            max_length=MOST_PATHS,
            description="Paths and queries at the registry, encoded, such as `/subjects/a%2Fb/versions`",
        ),
    ]


async def answer_together(request: Request, read_registry: ReadRegistry) -> Response:
    """Answer with a line for each GET, in the order in which the registry answers them.

    Args:
        request: The request, whose sender asks.
        read_registry: Sends a GET to the registry as the sender of a request.

    Raises:
        ApiError: 400 for a body that is no such request.
    """
    wanted = _read(await _body(request))
    return StreamingResponse(_lines(request.scope, wanted.paths, read_registry), media_type="application/x-ndjson")


async def _lines(scope: Scope, paths: list[str], read_registry: ReadRegistry) -> AsyncIterator[bytes]:
    """The answers as lines; a slow reader keeps the other GETs from being sent."""
    lines: asyncio.Queue[bytes] = asyncio.Queue(1)
    turns = asyncio.Semaphore(_MOST_AT_ONCE)

    async def ask(index: int, path: str) -> None:
        async with turns:
            try:
                reply = await read_registry(scope, Question(path, _ACCEPT))
            except (OSError, ApiError):
                # The client sends this GET by itself, and tells what is wrong.
                reply = Reply(0)
            text = reply.body.decode(errors="replace")
            await lines.put(orjson.dumps({"index": index, "status": reply.status, "body": text}) + b"\n")

    asking = [asyncio.ensure_future(ask(index, path)) for index, path in enumerate(paths)]
    try:
        for _ in paths:
            yield await lines.get()
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


def _read(body: bytes) -> TogetherRequest:
    try:
        wanted = msgspec.json.decode(body, type=TogetherRequest)
    except msgspec.MsgspecError as error:
        raise errors.BAD_TOGETHER(detail=str(error)) from None
    for path in wanted.paths:
        bare = path.partition("?")[0]
        is_path = path.startswith("/") and not path.startswith("//") and path.isascii() and path.isprintable()
        if not is_path or has_dot_segments(bare) or "#" in path or " " in path:
            raise errors.BAD_TOGETHER(detail=f"{path!r} is no encoded path at the registry")
        if is_endless(bare) or f"{bare}/".startswith(FOLDER):
            raise errors.BAD_TOGETHER(detail=f"{path!r} cannot be asked together with others")
    return wanted


async def _body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_BODY:
            raise errors.BODY_TOO_LARGE(size=len(body), limit=_LARGEST_BODY)
    return body
