"""One of our HTTP servers as a worker process: start, wait until ready, stop, kill."""

from __future__ import annotations

import http.client
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from magicbyte.kit.failure import Failure
from magicbyte.kit.processes import process


class ServerFailed(Failure):
    """A server ended, or did not answer in time; `last_lines` is the end of its log."""

    def __init__(self, text: str, last_lines: Sequence[str]) -> None:
        super().__init__(text)
        self.last_lines = tuple(last_lines)


class ServerProcess:
    """A `magicbyte` command that serves HTTP, in a process that ends when this process ends."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        url: str,
        *,
        log: Path,
        probe: str = "/",
        python: Path | str = sys.executable,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Configure the server; nothing is started yet.

        Args:
            name: the server's name in messages.
            arguments: the command's name and its arguments, as after `magicbyte`.
            url: the URL that it will serve, without a slash at the end.
            log: the file for its output, overwritten by each start.
            probe: the path to request; an answer other than 5xx means that the server is ready.
            python: the interpreter; one of another environment runs the server installed there. Setting the attribute
                between a stop and a start switches to the server of another environment.
            tls: the client's context for probing an https URL.
        """
        self.name = name
        self.arguments = list(arguments)
        self.url = url
        self.log = log
        self._probe = probe
        self.python: Path | str = python
        self._tls = tls
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while the server runs, else None."""
        return self._process.pid if self._process is not None and self.is_running else None

    @property
    def is_running(self) -> bool:
        """Whether the process is alive."""
        return self._process is not None and self._process.poll() is None

    def launch(self, *, start_when_closed: int | None = None) -> None:
        """Start the process and return at once.

        Args:
            start_when_closed: the read end of a pipe; the server loads its code, then waits until the other end closes.
        """
        # -P: Python must not import a folder `registry` of the user instead of ours.
        command = [str(self.python), "-P", "-m", "magicbyte.cli.main", *self.arguments]
        inherited: list[int] = []
        if start_when_closed is not None:
            command += ["--start-when-closed", str(start_when_closed)]
            inherited = [start_when_closed]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        with self.log.open("wb") as log:
            self._process = process.start(command, log=log.fileno(), environment=environment, pass_fds=inherited)

    def start(self, timeout: float = 120) -> None:
        """Start the server and wait until it answers; see `wait_until_ready`."""
        self.launch()
        self.wait_until_ready(timeout)

    def wait_until_ready(self, timeout: float = 120) -> None:
        """Wait until the server answers; a loaded machine may need a minute.

        Raises:
            ServerFailed: it ended, or did not answer within `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        while not self.answers():
            self.check()
            if time.monotonic() > deadline:
                raise ServerFailed(f"the {self.name} did not answer at {self.url} in {timeout:g} s", self.last_lines())
            time.sleep(0.02)

    def check(self) -> None:
        """Raise ServerFailed if the process has ended."""
        if not self.is_running:
            code = self._process.returncode if self._process is not None else None
            raise ServerFailed(f"the {self.name} ended with exit code {code}", self.last_lines())

    def answers(self) -> bool:
        """Tell whether the server answers the probe at the moment."""
        connection = self._connection(timeout=5)
        try:
            connection.request("GET", self._probe)
            return connection.getresponse().status < http.HTTPStatus.INTERNAL_SERVER_ERROR
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _connection(self, *, timeout: float) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection(host, port, timeout=timeout)

    def terminate(self) -> None:
        """Ask the server to stop and return at once; `stop` then waits."""
        if self._process is not None and self.is_running:
            self._process.terminate()

    def stop(self, seconds: float = 10) -> int | None:
        """Stop the server cleanly, by force after `seconds`, and return its exit code; None if it was never started."""
        return None if self._process is None else process.stop(self._process, seconds=seconds)

    def wait(self, seconds: float = 10) -> int | None:
        """Wait until the server has ended and return its exit code; None if it was never started.

        Raises:
            subprocess.TimeoutExpired: the server still runs after `seconds`.
        """
        return None if self._process is None else self._process.wait(seconds)

    def kill(self) -> None:
        """Kill the server with SIGKILL, as in a crash."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def last_lines(self, count: int = 15) -> list[str]:
        """Return the last lines of the server's log."""
        try:
            return self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
        except FileNotFoundError:
            return []
