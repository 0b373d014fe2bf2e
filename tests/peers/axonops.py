"""AxonOps' schema registry as a peer: built from its Go module once, into the user's cache, and run in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from magicbyte.kit.processes.process import temporary_folder
from magicbyte.platform.broker import free_port

MODULE, VERSION = "github.com/axonops/axonops-schema-registry", "v0.2.1"
_GO_MOD = f"module peers\n\ngo 1.24\n\nrequire {MODULE} {VERSION}\n"
_TOOLS = f'//go:build tools\n\npackage peers\n\nimport _ "{MODULE}/cmd/schema-registry"\n'
_CONFIG = """server:
  host: 127.0.0.1
  port: {port}
storage:
  type: memory
compatibility:
  default_level: BACKWARD
logging:
  level: warn
"""


def program() -> Path | None:
    """The server's program; None if there is no Go, or its module cannot be had. The first build takes minutes."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "magicbyte" / "peers"
    built = cache / f"axonops-{VERSION}" / "schema-registry"
    if built.is_file():
        return built
    go = shutil.which("go")
    if go is None:
        print("-- AxonOps: left out, there is no go")
        return None
    built.parent.mkdir(parents=True, exist_ok=True)
    (built.parent / "go.mod").write_text(_GO_MOD)
    (built.parent / "tools.go").write_text(_TOOLS)
    print(f"-- AxonOps: building {MODULE} {VERSION} into {built.parent}", flush=True)
    command = (go, "build", "-mod=mod", "-o", built.name, f"{MODULE}/cmd/schema-registry")
    done = subprocess.run(command, cwd=built.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"-- AxonOps: left out, its module cannot be built: {done.stderr.strip().splitlines()[-1:]}")
        return None
    return built


@contextmanager
def running(built: Path) -> Iterator[str]:
    """Run an empty server; yields its URL."""
    folder = temporary_folder("magicbyte-axonops-")
    port = free_port()
    (folder / "config.yaml").write_text(_CONFIG.format(port=port))
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen((built, "-config", folder / "config.yaml"), stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, server, folder / "log")
        yield url
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            httpx.get(f"{url}/schemas/types").raise_for_status()
        except httpx.HTTPError:
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"AxonOps does not start: {log.read_text()}") from None
            time.sleep(0.1)
        else:
            return
