"""Two registries, and a mirror between them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from magicbyte.operations.comparison.compare import compare
from magicbyte.operations.mirror.following import Follower, Timing
from magicbyte.operations.mirror.mirroring import Mirroring, Options
from magicbyte.operations.mirror.origin import Origin
from magicbyte.operations.mirror.target import Target
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.state import State
from magicbyte.testing import running_registry
from tests.http.serving import serving

SECONDS = 120.0


@dataclass
class Api:
    """A registry and a client of it."""

    url: str

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request that has to succeed."""
        answer = httpx.request(method, self.url + path, json=body, timeout=SECONDS)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def register(self, subject: str, schema: str, **fields: Any) -> int:
        """Register a schema and return its id."""
        schema_id: int = self("POST", f"/subjects/{subject}/versions", {"schema": schema, **fields})["id"]
        return schema_id

    def state(self) -> State:
        """The state of the registry."""
        with open_source(self.url, Properties()) as source:
            return source.read().state

    def lines(self, text: str) -> None:
        """Import lines that were written by hand."""
        answer = httpx.post(f"{self.url}/import?lines=true", content=text, timeout=SECONDS)
        assert answer.is_success, answer.text
        assert not answer.json()["refused"]


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.02)


def differences(left: Api, right: Api) -> list[str]:
    """The differences between two registries, but for the modes, which a mirror sets."""
    return [one.sentence for one in compare(left.state(), right.state(), ignored=frozenset({"mode"})).differences]


def until_equal(left: Api, right: Api) -> None:
    """Wait until two registries are equal."""
    end = time.monotonic() + SECONDS
    while found := differences(left, right):
        assert time.monotonic() < end, found
        time.sleep(0.02)


@dataclass
class Running:
    """A mirror that runs in a thread."""

    follower: Follower
    mirroring: Mirroring
    told: list[str] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)
    thread: threading.Thread | None = None

    def until_told(self, text: str) -> None:
        """Wait until the log has a text."""
        until(lambda: any(text in line for line in self.told), f"{text!r} in {self.told}, {self.failed}")

    def until_failed(self) -> str:
        """Wait for the end of the mirror, and return why it ended."""
        assert self.thread is not None
        self.thread.join(SECONDS)
        assert self.failed, self.told
        return str(self.failed[0])


@contextmanager
def mirror(source: str, target: str, options: Options | None = None, **timing: float) -> Iterator[Running]:
    """Run a mirror."""
    told: list[str] = []
    with Origin(source, Properties()) as origin, Target(target, {}) as end:
        mirroring = Mirroring(origin, end, options or Options(), told.append)
        follower = Follower(origin, mirroring, told.append, Timing(**timing))
        running = Running(follower, mirroring, told)

        def run() -> None:
            try:
                follower.run()
            except Exception as error:  # noqa: BLE001  the test looks at it
                running.failed.append(error)

        running.thread = threading.Thread(target=run, daemon=True)
        running.thread.start()
        try:
            yield running
        finally:
            follower.stop()
            running.thread.join(SECONDS)


def mirror_once(source: str, target: str, options: Options | None = None) -> list[str]:
    """Run a full sync, and return the log."""
    told: list[str] = []
    with Origin(source, Properties()) as origin, Target(target, {}) as end:
        Follower(origin, Mirroring(origin, end, options or Options(), told.append), told.append).run_once()
    return told


@pytest.fixture
def registries() -> Iterator[tuple[Api, Api]]:
    """Two empty registries in memory."""
    with running_registry("memory:") as left, running_registry("memory:") as right:
        yield Api(left.url), Api(right.url)


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[Api, Api]]:
    """Two registries in memory for tests that keep to subjects and contexts of their own."""
    with running_registry("memory:") as left, running_registry("memory:") as right:
        yield Api(left.url), Api(right.url)


@dataclass
class Front:
    """A server before a registry.

    Attributes:
        registry: The URL of the registry.
        url: Its URL.
        refuse: Returns the status with which a path is refused, or None to pass it on.
    """

    registry: str
    url: str = ""
    refuse: Callable[[str], int | None] = lambda _: None


@contextmanager
def front_of(registry: str) -> Iterator[Front]:
    """Run a server before a registry that answers its reads."""
    front = Front(registry)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status = front.refuse(self.path)
            if status is not None:
                self._begin(status, "application/json")
                self.wfile.write(b'{"error_code":%d,"message":"refused in front"}' % status)
                return
            names = ("accept", "last-event-id", "authorization")
            headers = {name: value for name, value in self.headers.items() if name.lower() in names}
            with httpx.stream("GET", front.registry + self.path, headers=headers, timeout=SECONDS) as answer:
                self._begin(answer.status_code, answer.headers["content-type"])
                try:
                    for part in answer.iter_raw():
                        self.wfile.write(part)
                except OSError:
                    # The mirror has ended.
                    self.close_connection = True

        def _begin(self, status: int, media_type: str) -> None:
            # Of HTTP/1.0: the body ends with the connection.
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.end_headers()

        def log_message(self, format: str, *_arguments: object) -> None:  # noqa: A002  the name of the base class
            del format

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # A followed feed never ends.
    server.daemon_threads = True
    server.block_on_close = False
    with serving(server) as front.url:
        yield front


@pytest.fixture
def front(shared: tuple[Api, Api]) -> Iterator[Front]:
    """A server before the first of the shared registries."""
    with front_of(shared[0].url) as made:
        yield made


def lacks(*paths: str) -> Callable[[str], int | None]:
    """Refuse paths that begin so with 404."""
    return lambda path: 404 if path.startswith(paths) else None
