"""A proxy as nginx would be at `location /sr/`: it passes paths on without their prefix, and may ask for a password."""

from __future__ import annotations

import http.client
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.http.serving import serving

_OF_CONNECTION = frozenset(("connection", "transfer-encoding", "keep-alive", "host", "authorization"))
#: What the proxy's users sign in with.
USER, PASSWORD = "proxied", "wonderland"
_EXPECTED = "Basic " + b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class Handler(BaseHTTPRequestHandler):
    """Passes requests on; a subclass has the settings."""

    target = ""
    prefix = ""
    asks_for_password = False
    decodes_slashes = False
    rest_of_listing: threading.Event | None = None
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.asks_for_password and self.headers.get("authorization") != _EXPECTED:
            self.finish_with(401, [("WWW-Authenticate", 'Basic realm="proxy"')], b"no")
        elif not self.path.startswith(f"{self.prefix}/"):
            self.finish_with(404, [], b"not here")
        else:
            dropped = _OF_CONNECTION | ({"accept-encoding"} if self.rest_of_listing is not None else set())
            headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
            connection = http.client.HTTPConnection(self.target, timeout=30)
            path, question, query = self.path.removeprefix(self.prefix).partition("?")
            if self.decodes_slashes:
                path = path.replace("%2F", "/")
            connection.request(self.command, path + question + query, body or None, headers)
            answer = connection.getresponse()
            self.pass_back(answer)
            connection.close()

    def pass_back(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _OF_CONNECTION:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.rest_of_listing is not None and "/overview" in self.path:
            self.wfile.write(answer.readline())
            self.wfile.flush()
            self.rest_of_listing.wait(60)
        while part := answer.read1(65536):
            self.wfile.write(part)
            self.wfile.flush()

    def finish_with(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass

    do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815  the base class's names


class Proxy(ThreadingHTTPServer):
    """A server whose threads do not keep the test waiting for a stream that has no end."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """A browser that goes away is none."""


@contextmanager
def prefixing(
    url: str,
    prefix: str = "/sr",
    *,
    asks_for_password: bool = False,
    decodes_slashes: bool = False,
    rest_of_listing: threading.Event | None = None,
) -> Iterator[str]:
    """Run a proxy; yields its URL with the prefix, without a slash at the end.

    Args:
        url: The server behind it.
        prefix: Begins with a slash.
        asks_for_password: Whether only `USER` gets in; the server behind it does not see the password.
        decodes_slashes: Whether `%2F` in paths becomes a slash, as with nginx's `proxy_pass` to an address with a path.
        rest_of_listing: If given, the listing stops after its first line until this is set.
    """
    settings = {
        "target": urlsplit(url).netloc,
        "prefix": prefix,
        "asks_for_password": asks_for_password,
        "decodes_slashes": decodes_slashes,
        "rest_of_listing": rest_of_listing,
    }
    handler = type("PrefixingHandler", (Handler,), settings)

    with serving(Proxy(("127.0.0.1", 0), handler)) as proxy_url:
        yield f"{proxy_url}{prefix}"
