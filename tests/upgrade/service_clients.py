"""Clients of a Kubernetes Service that stands before registry pods: they send each request once, to one endpoint."""

from __future__ import annotations

import http.client
import json
import random
import select
import threading
import time
import uuid
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from tests.chaos.kit.until_stopped import UntilStopped
from tests.upgrade.registry_rolling import Subject

WRITERS = 4

#: Readers that open a connection for each request, and readers that keep theirs.
READERS = (False, False, True, True)

_HEADERS = {"Content-Type": "application/json"}

#: Between two requests of a client, in seconds; without it they would measure how fast the machine is.
_PAUSE = 0.02


class Refused(Exception):
    """An answer that is an error."""


_FAILURES = (OSError, http.client.HTTPException, Refused)


class Service:
    """The endpoints that new connections go to."""

    def __init__(self, urls: list[str]) -> None:
        """Begin with all endpoints."""
        self._urls = list(urls)
        self._lock = threading.Lock()
        #: What went wrong with the pods themselves.
        self.problems: list[str] = []

    def choose(self, chance: random.Random) -> str:
        """One of the endpoints."""
        with self._lock:
            return chance.choice(self._urls)

    def remove(self, url: str, *, after: float) -> None:
        """Send no new connection to an endpoint, from some seconds on."""
        threading.Timer(after, partial(self._change, url, is_there=False)).start()

    def add(self, url: str, *, after: float) -> None:
        """Send new connections to an endpoint, too, from some seconds on."""
        threading.Timer(after, partial(self._change, url, is_there=True)).start()

    def _change(self, url: str, *, is_there: bool) -> None:
        with self._lock:
            self._urls = [other for other in self._urls if other != url] + [url] * is_there


class Clients(UntilStopped):
    """Readers and writers, until they are stopped; each writer has subjects of its own."""

    def __init__(self, service: Service, seed: int) -> None:
        """Start them."""
        super().__init__()
        self.subjects: list[Subject] = []
        self.problems: list[str] = []
        self.answered = self.reads = self.reconnected = 0
        self.longest_write = self.longest_read = 0.0
        self._service = service
        self._lock = threading.Lock()
        writers = [partial(self._write, random.Random(f"{seed}-w{number}")) for number in range(WRITERS)]
        readers = [
            partial(self._read, random.Random(f"{seed}-r{number}"), keeps=keeps) for number, keeps in enumerate(READERS)
        ]
        self.begin(*writers, *readers)

    def wait_for(self, writes: int, seconds: float = 120) -> None:
        """Wait until so many more writes were answered."""
        enough, deadline = self.answered + writes, time.monotonic() + seconds
        while self.answered < enough:
            if time.monotonic() > deadline:
                raise TimeoutError(f"fewer than {writes} writes were answered in {seconds:g} s: {self.problems[:3]}")
            time.sleep(0.02)

    def _write(self, chance: random.Random) -> None:
        while not self.stopping.wait(_PAUSE):
            subject = Subject(str(uuid.UUID(int=chance.getrandbits(128))))
            schema = {"type": "record", "name": f"R{subject.name.replace('-', '')}", "fields": []}
            text = json.dumps(schema, separators=(",", ":"))
            connection, begun = self._connect(chance), time.monotonic()
            try:
                answer = self._ask(connection, "POST", f"/subjects/{subject.name}/versions", {"schema": text})
            except _FAILURES as error:
                self.problems.append(f"POST to {connection.port} after {time.monotonic() - begun:.2f} s: {error!r}")
                continue
            finally:
                connection.close()
            subject.versions[1] = (answer["id"], text)
            with self._lock:
                self.longest_write = max(self.longest_write, time.monotonic() - begun)
                self.subjects.append(subject)
                self.answered += 1

    def _read(self, chance: random.Random, *, keeps: bool) -> None:
        connection = self._connect(chance)
        while not self.stopping.wait(_PAUSE):
            if not self.subjects:
                continue
            subject = chance.choice(self.subjects)
            if not keeps or is_closed(connection):
                connection.close()
                connection = self._connect(chance)
            is_new, begun = connection.sock is None, time.monotonic()
            try:
                answer = self._ask(connection, "GET", f"/subjects/{subject.name}/versions/1")
            except _FAILURES as error:
                connection.close()
                if is_new or isinstance(error, Refused):
                    self.problems.append(f"GET from {connection.port}: {error!r}")
                else:
                    # The server closed the connection at the same moment; HTTP clients send a GET again then.
                    self.reconnected += 1
                continue
            if (answer["id"], answer["schema"]) != subject.versions[1]:
                self.problems.append(f"{subject.name} is {answer}, not {subject.versions[1]}")
            with self._lock:
                self.longest_read = max(self.longest_read, time.monotonic() - begun)
                self.reads += 1
        connection.close()

    def _connect(self, chance: random.Random) -> http.client.HTTPConnection:
        parts = urlsplit(self._service.choose(chance))
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)

    def _ask(self, connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> Any:
        """Send a request; returns the answer's body.

        Raises:
            OSError, HTTPException: There is no answer.
            Refused: The answer is an error.
        """
        connection.request(method, path, None if body is None else json.dumps(body), _HEADERS)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise Refused(f"{answer.status} {content.decode()}")
        return json.loads(content)


def is_closed(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has closed an idle connection, which pools of connections look at before they use one."""
    return connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])
