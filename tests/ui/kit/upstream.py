"""A server behind the page that writes down what it is asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.http.serving import serving


@dataclass
class Recorded:
    """A request as it came in; names of headers are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Upstream:
    """A running server.

    Attributes:
        url: Its URL.
        requests: The requests so far.
        status: The status of the next answers.
        headers: Headers of the next answers.
        parts: The parts of the next answers, which are sent in chunks.
        hold: While it is cleared, an answer waits for it before its last part.
    """

    url: str
    requests: list[Recorded] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    parts: list[bytes] = field(default_factory=lambda: [b"{}"])
    hold: threading.Event = field(default_factory=threading.Event)


@contextmanager
def upstream() -> Iterator[Upstream]:
    """Run a server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            running.requests.append(Recorded(self.command, self.path, headers, self.rfile.read(length)))
            self.send_response(running.status)
            for name, value in running.headers.items():
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number, part in enumerate(running.parts, start=1):
                if number == len(running.parts):
                    running.hold.wait(30)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            pass

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.answer)
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as url:
        running = Upstream(url)
        running.hold.set()
        try:
            yield running
        finally:
            running.hold.set()
