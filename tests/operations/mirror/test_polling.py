"""A source that has neither exports nor a change feed is read by its subjects, again and again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from tests.operations.mirror.conftest import Api, differences, mirror, until


@pytest.fixture
def foreign(registries: tuple[Api, Api]) -> Iterator[str]:
    """The URL of the first registry without `/export` and `/events`."""
    url = registries[0].url

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_ours = self.path.startswith(("/export", "/events"))
            answer = httpx.get(url + ("/nowhere" if is_ours else self.path))
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers["content-type"])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *_arguments: object) -> None:  # noqa: A002  the name of the base class
            del format

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_registry_without_exports_is_polled(registries: tuple[Api, Api], foreign: str) -> None:
    source, target = registries
    source.register("a", '"int"')
    with mirror(foreign, target.url, poll_seconds=0.1) as running:
        running.until_told("no change feed")
        until(lambda: ("a", 1) in target.state().versions, "the first version arrives")
        source.register("b", '"long"')
        source("DELETE", "/subjects/a")
        until(lambda: ("b", 1) in target.state().versions, "the second version arrives")
        until(lambda: target.state().versions["a", 1].deleted, "the deletion arrives")
        assert not running.failed
    assert differences(source, target) == []
