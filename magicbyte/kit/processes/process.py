"""Child processes and temporary folders that cannot outlive this process.

All children join one process group, led by a small guard process that reads a pipe from this process. However this
process ends, even by kill -9, the pipe closes; the guard then ends the whole group, including the children's children,
and removes the temporary folders. A child joins the group before it runs its program, so none is missed. POSIX only.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

#: A temporary folder is made in the memory file system only if this many bytes are free there.
_MIN_FREE_BYTES = 1 << 30

#: The guard's program; a text, so that it loads only the core of the standard library (8 MB, 15 ms). It leaves the
#: group before it ends it. A zombie still counts as a member of the group, so the guard reads the states in /proc.
_GUARD = """
import os, shutil, signal, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
folders = [line.rstrip("\\n") for line in sys.stdin]
group = os.getpid()
if os.fork():
    os._exit(0)
os.setpgid(0, 0)
def alive():
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    if not os.path.isdir("/proc/self"):
        return True
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stat:
                state, _, member = stat.read().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(member) == group and state != "Z":
            return True
    return False
def end(number, seconds):
    until = time.monotonic() + seconds
    try:
        os.killpg(group, number)
    except OSError:
        return True
    while alive() and time.monotonic() < until:
        time.sleep(0.02)
    return not alive()
end(signal.SIGTERM, 2) or end(signal.SIGKILL, 2)
for folder in folders:
    shutil.rmtree(folder, ignore_errors=True)
"""


class _Guard:
    """The guard process and the pipe to it, which closes when this process ends."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and text
            [sys.executable, "-I", "-S", "-c", _GUARD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            process_group=0,
        )
        atexit.register(self.close)

    @property
    def group(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def remove_at_end(self, folder: Path) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{folder}\n".encode())
        self._process.stdin.flush()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def leave(self) -> None:
        """Close a forked process's copy of the pipe, because the guard belongs to the parent process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.returncode = 0  # it is not a child of the forked process, so do not wait for it


_guard: _Guard | None = None
_guard_lock = threading.Lock()


def _the_guard() -> _Guard:
    global _guard  # noqa: PLW0603 - one guard for the process, started with its first child
    with _guard_lock:
        if _guard is None or not _guard.is_alive:
            _guard = _Guard()
        return _guard


def _leave_guard() -> None:
    global _guard, _guard_lock
    if _guard is not None:
        _guard.leave()
    _guard, _guard_lock = None, threading.Lock()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_leave_guard)


def start(
    command: Sequence[str | Path],
    *,
    log: IO[bytes] | int | None = None,
    environment: dict[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a child that ends when this process does; its stdin is empty, its stdout and stderr go to `log`.

    A Ctrl-C at the terminal does not reach it, so that the caller can end its children in the right order.
    """
    return subprocess.Popen(  # noqa: S603 - the callers' commands are fixed lists
        [os.fspath(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=None if log is None else subprocess.STDOUT,
        env=environment,
        pass_fds=pass_fds,
        process_group=_the_guard().group,
    )


def stop(process: subprocess.Popen[bytes], *, seconds: float = 10) -> int:
    """End a child with SIGTERM, after `seconds` with SIGKILL, and return its exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def temporary_folder(prefix: str = "magicbyte-") -> Path:
    """Return a new folder that is removed when this process ends; it is in memory if the system has such a place."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder with a random name is made in it, readable by its owner only
    # Containers often have 64 MB there, too little for a broker's mapped files.
    is_roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= _MIN_FREE_BYTES
    parent = memory if is_roomy else Path(tempfile.gettempdir())
    folder = parent / f"{prefix}{secrets.token_hex(4)}"
    # In this order: if this process ends between the two calls, no folder is left behind.
    _the_guard().remove_at_end(folder)
    folder.mkdir(mode=0o700)
    return folder
