"""Secrets that are planted, and the places where they must not be seen."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import cast

from tests.processes import descendants

#: No other text holds it, not even that of another run on this machine.
MARK = f"planted{secrets.token_hex(4)}"


def planted(name: str) -> str:
    """A secret to plant."""
    return f"{MARK}-{name}-0123456789-0123456789"


def of_process(pid: int, name: str) -> bytes:
    """The content of a process's file in `/proc`; empty if the process has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def files_with_secrets(folder: Path) -> list[Path]:
    """The files below a folder in which a planted secret stands."""
    return [path for path, content in contents_below(folder) if MARK.encode() in content]


def contents_below(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The files below a folder and their contents, without those that other processes remove meanwhile."""
    # Unlike `rglob`, `walk` passes over folders that are removed.
    for path in (Path(place, name) for place, _, names in os.walk(folder) for name in names):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield path, path.read_bytes()


class Watched:
    """Runs a command, and looks for secrets in what it shows and leaves."""

    def __init__(self, folder: Path) -> None:
        """Run commands with their temporary files in a folder."""
        self._temporary = folder / "temporary"
        self._temporary.mkdir()

    def run(self, words: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[int, str]:
        """The exit code and all that was written, once nothing of it and of the system's lists shows a secret."""
        variables = {**os.environ, **(environment or {}), "TMPDIR": str(self._temporary)}
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables) as process:
            assert process.stdout is not None
            parts = []
            output = cast("BufferedReader", process.stdout)
            while part := output.read1():
                parts.append(part)
                for pid in (process.pid, *descendants(process.pid)):
                    assert MARK.encode() not in of_process(pid, "cmdline")
                assert files_with_secrets(self._temporary) == []
        assert files_with_secrets(self._temporary) == []
        written = b"".join(parts).decode()
        assert MARK not in written, written
        return process.returncode, written
