"""A worker process, as seen by the process that started it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from multiprocessing.connection import Connection

import orjson

from serdes.error import ValidationUnavailable
from serdes.validation.described import DescribedSchema
from serdes.validation.protocol import CPU_SECONDS, Answer, Request
from serdes.validation.refusal import Refusal

#: Seconds on the clock after which a worker is killed if the machine does not give it its processor time.
_PATIENCE = 5.0
_START_PATIENCE = 30.0
#: Seconds that a process which closed its pipe has to end by itself.
_END_PATIENCE = 1.0


class WorkerDied(Exception):
    """A worker that ended before it answered: how, and whether what it was asked took too long."""

    def __init__(self, how: str, *, is_timeout: bool = False) -> None:
        super().__init__(how)
        self.is_timeout = is_timeout


class WorkerProcess:
    """A process that runs `serdes.validation.worker`; used by one thread at a time.

    Attributes:
        is_fresh: Whether it has done nothing yet.

    Raises:
        ValidationUnavailable: It cannot be started.
    """

    def __init__(self) -> None:
        if sys.platform == "win32":
            raise ValidationUnavailable("it needs a worker process, which does not run on Windows")
        if getattr(sys, "frozen", False) or not sys.executable:
            raise ValidationUnavailable("it needs a worker process, and no Python interpreter is known")
        self.is_fresh = True
        # A process of its own: not a fork of this one, whose threads may hold locks, and not multiprocessing, which
        # would run the user's program again.
        command = [sys.executable, "-P", "-m", "serdes.validation.worker"]
        # Modules are found where this process found them, whatever brought them: an environment, an archive of Spark's.
        path = os.pathsep.join(entry for entry in sys.path if entry)
        try:
            self._process = subprocess.Popen(  # noqa: S603  our own module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,  # Ctrl-C is for the program that started it
            )
        except OSError as error:
            raise ValidationUnavailable(f"its worker process cannot be started: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = Connection(os.dup(self._process.stdin.fileno()), readable=False)
        self._answers = Connection(os.dup(self._process.stdout.fileno()), writable=False)
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._receive(_START_PATIENCE)
        except WorkerDied as death:
            raise ValidationUnavailable(f"its worker process did not start: {death}") from None

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def judge(self, schema: DescribedSchema, text: bytes) -> Refusal | None:
        """The refusal of a value given as JSON text; None if the schema accepts it.

        Raises:
            ValueError: The schema cannot be compiled.
            WorkerDied: The worker ended before it decided.
        """
        answer = self._ask(Request.JUDGE, schema.digest + text)
        if answer == Answer.UNKNOWN:
            answer = self._ask(Request.COMPILE, schema.digest + schema.packed)
            if answer[:1] == Answer.INVALID:
                raise ValueError(answer[1:].decode())
            answer = self._ask(Request.JUDGE, schema.digest + text)
        if answer == Answer.ACCEPTED:
            return None
        try:
            path, keyword, reason = orjson.loads(self._receive(_PATIENCE))
        except WorkerDied as death:
            return schema.given_up(f"the search for the reason ended, as {death}")
        return Refusal(tuple(path), keyword, reason)

    def kill(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        self._close()

    def disown(self) -> None:
        """Leaves the process to the parent of this process, which was forked from it."""
        self._process.returncode = 0  # it is no child of this process, which must not wait for it
        self._close()

    def _close(self) -> None:
        self._requests.close()
        self._answers.close()

    def _ask(self, request: bytes, content: bytes) -> bytes:
        try:
            self._requests.send_bytes(request + content)
        except OSError:
            raise self._death() from None
        return self._receive(_PATIENCE)

    def _receive(self, seconds: float) -> bytes:
        try:
            if self._answers.poll(seconds):
                answer = self._answers.recv_bytes()
                if answer[:1] != Answer.BROKEN:
                    return answer
                self.kill()
                raise WorkerDied(f"it met {answer[1:].decode()}")
        except (EOFError, OSError):
            raise self._death() from None
        self.kill()
        raise WorkerDied(f"it took more than {seconds:g} s", is_timeout=True)

    def _death(self) -> WorkerDied:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_PATIENCE)
        self.kill()
        code = self._process.returncode
        if code == -signal.SIGPROF:
            return WorkerDied(f"it took more than {CPU_SECONDS:g} s of processor time", is_timeout=True)
        return WorkerDied(f"its worker ended with {signal.Signals(-code).name if code < 0 else code}")
