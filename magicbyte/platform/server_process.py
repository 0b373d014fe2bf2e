"""One of our HTTP servers as a child process: started, waited for, stopped, killed."""

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

from magicbyte.kit import process
from magicbyte.kit.failure import Failure


class ServerFailed(Failure):
    """A server ended, or did not answer in time; `last_lines` are the end of its log."""

    def __init__(self, text: str, last_lines: Sequence[str]) -> None:
        super().__init__(text)
        self.last_lines = tuple(last_lines)


class ServerProcess:
    """A `magicbyte` command that serves HTTP, in a process that ends with this one."""

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
        """Say what to start; nothing is started yet.

        Args:
            name: what messages call it.
            arguments: the command's name and its arguments, as after `magicbyte`.
            url: where it will answer, without a slash at the end.
            log: the file for its output, written anew by each start.
            probe: the path whose answer, other than a 5xx, shows that it is ready.
            python: the interpreter; one of another environment runs the server that is installed there. Setting the
                attribute between a stop and a start replaces the server by that of another environment.
            tls: how it is asked whether it is ready, if the URL is https.
        """
        self.name = name
        self.arguments = list(arguments)
        self.url = url
        self.log = log
        self._probe = probe
        self.python = str(python)
        self._tls = tls
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process is not None and self.is_running else None

    @property
    def is_running(self) -> bool:
        """Whether there is a live process."""
        return self._process is not None and self._process.poll() is None

    def launch(self, *, start_when_closed: int | None = None) -> None:
        """Start the process and return at once.

        Args:
            start_when_closed: the read end of a pipe; the server loads its code, and serves once the other end closes.
        """
        # -P: a folder of the user's that is called `registry` must not be taken for ours.
        command = [self.python, "-P", "-m", "magicbyte.cli.main", *self.arguments]
        passed: list[int] = []
        if start_when_closed is not None:
            command += ["--start-when-closed", str(start_when_closed)]
            passed = [start_when_closed]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        with self.log.open("wb") as log:
            self._process = process.start(command, log=log.fileno(), environment=environment, pass_fds=passed)

    def start(self, timeout: float = 30) -> None:
        """Start it and wait until it answers; raises as `wait_until_ready`."""
        self.launch()
        self.wait_until_ready(timeout)

    def wait_until_ready(self, timeout: float = 30) -> None:
        """Wait until it answers.

        Raises:
            ServerFailed: it ended, or `timeout` seconds have passed.
        """
        deadline = time.monotonic() + timeout
        while not self.answers():
            self.check()
            if time.monotonic() > deadline:
                raise ServerFailed(f"the {self.name} did not answer at {self.url} in {timeout:g} s", self.last_lines())
            time.sleep(0.02)

    def check(self) -> None:
        """Raise ServerFailed where the process has ended."""
        if not self.is_running:
            code = self._process.returncode if self._process is not None else None
            raise ServerFailed(f"the {self.name} ended with exit code {code}", self.last_lines())

    def answers(self) -> bool:
        """Whether it answers its probe at this moment."""
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port
        connection = (
            http.client.HTTPSConnection(host, port, timeout=5, context=self._tls)
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=5)
        )
        try:
            connection.request("GET", self._probe)
            return connection.getresponse().status < http.HTTPStatus.INTERNAL_SERVER_ERROR
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def terminate(self) -> None:
        """Ask it to stop and return at once; `stop` then waits."""
        if self._process is not None and self.is_running:
            self._process.terminate()

    def stop(self, seconds: float = 10) -> int | None:
        """End it cleanly, by force after `seconds`, and return its exit code; None where it was never started."""
        return None if self._process is None else process.stop(self._process, seconds=seconds)

    def wait(self, seconds: float = 10) -> int | None:
        """Wait until it has ended and return its exit code; None if it was never started.

        Raises:
            subprocess.TimeoutExpired: it still runs after `seconds`.
        """
        return None if self._process is None else self._process.wait(seconds)

    def kill(self) -> None:
        """End it at once with SIGKILL, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def last_lines(self, count: int = 15) -> list[str]:
        """Return the end of its log."""
        try:
            return self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
        except FileNotFoundError:
            return []
