"""Connections in this process, without a network, and an application behind them."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from uvicorn import Config
from uvicorn.server import ServerState

from magicbyte.http.asgi import Receive, Scope, Send
from magicbyte.http.connection.applications import Front
from magicbyte.http.connection.connections import Connections
from magicbyte.http.connection.pipelining import Pipelining
from magicbyte.http.connection.protocol import HttpConnection
from magicbyte.http.connection.request_turns import RequestTurns
from magicbyte.http.connection_limits import Limits
from magicbyte.http.response_headers import ResponseHeaders
from magicbyte.http.routing.recorder import Recorder, Tallies
from magicbyte.http.routing.rows import Streams


class Written(asyncio.Transport):
    """A transport that keeps what is written, and whether it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.data = b""
        self.reads_on = True
        self.reads = asyncio.Event()
        self.reads.set()
        self.closed = asyncio.Event()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.data += data

    def writelines(self, list_of_data: Any) -> None:
        self.data += b"".join(list_of_data)

    def pause_reading(self) -> None:
        assert self.reads_on
        self.reads_on = False
        self.reads.clear()

    def resume_reading(self) -> None:
        assert not self.reads_on
        self.reads_on = True
        self.reads.set()

    def is_closing(self) -> bool:
        return self.closed.is_set()

    def close(self) -> None:
        self.closed.set()
        self.reads.set()

    abort = close

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return SimpleNamespace(setsockopt=lambda *_: None) if name == "socket" else default


class Echo:
    """Answers a request with its method, path and body; waits before each answer if `gate` is not set."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun += 1
        message = await receive()
        body = message["body"]
        while message["more_body"]:
            message = await receive()
            body += message["body"]
        await self.gate.wait()
        content = b"%b %b %b\n" % (scope["method"].encode(), scope["raw_path"], body)
        headers = [(b"content-length", b"%d" % len(content))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})


def a_front(app: Any, limits: Limits) -> Front:
    connections = Connections(limits, lambda _path: Streams(0))
    recorder = Recorder("test", [], Tallies("", ""))
    turns = RequestTurns(asyncio.get_running_loop())
    return Front(app, app, app, connections, ResponseHeaders(), recorder, Pipelining(limits.pipelined_bytes), turns)


def connected_to(front: Front, address: str = "1.2.3.4") -> tuple[HttpConnection, Written]:
    config = Config(front.app)
    connection = HttpConnection(front, address, None, config=config, server_state=ServerState(), app_state={})
    transport = Written()
    connection.connection_made(transport)
    return connection, transport
