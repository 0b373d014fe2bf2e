"""Shared parts of tests of fresh environments: commands outside of the checkout, and a platform started by one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from magicbyte.platform.broker import free_port

ROOT = Path(__file__).parents[2]
UV = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "uv"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in {"UV", "VIRTUAL_ENV", "PYTHONPATH"}}


def run(
    *command: str | Path, code: int = 0, folder: Path = Path("/"), binaries: Path | None = None, **more: str
) -> str:
    """Run a command, with an environment's binaries first on PATH; returns what it printed."""
    path = {} if binaries is None else {"PATH": f"{binaries}:{ENVIRONMENT['PATH']}"}
    done = subprocess.run(
        command, env=ENVIRONMENT | path | more, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def distributions(binaries: Path) -> set[str]:
    """The distributions of an environment."""
    code = "import importlib.metadata as m; print(*(d.name.lower() for d in m.distributions()))"
    return set(run(binaries / "python", "-c", code).split())


@contextmanager
def up(*command: str | Path, ports: Sequence[int] = ()) -> Iterator[tuple[str, list[str]]]:
    """Run `up` until it says that it is ready; gives the registry's URL and the lines until then.

    Args:
        command: The command before `up`.
        ports: Those of broker, registry and REST proxy; free ones by default.
    """
    chosen = ports or [free_port() for _ in range(3)]
    options = {f"--{name}-port": str(port) for name, port in zip(("kafka", "registry", "rest"), chosen, strict=True)}
    process = subprocess.Popen(
        [*command, "up", "--ephemeral", *(word for pair in options.items() for word in pair)],
        env=ENVIRONMENT,
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("ready"):
                break
        else:
            pytest.fail("".join(lines))
        yield f"http://127.0.0.1:{options['--registry-port']}", lines
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        process.stdout.close()


def subjects(registry: str) -> list[str]:
    """The subjects of a registry."""
    with urllib.request.urlopen(f"{registry}/subjects") as answer:
        return list(json.load(answer))
