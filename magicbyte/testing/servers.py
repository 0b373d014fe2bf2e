"""Our registry and REST proxy for tests, each in its own process."""

from __future__ import annotations

import shutil
import ssl
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from magicbyte.kit.processes import process
from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess


@contextmanager
def running_registry(
    storage: str = "memory:",
    *,
    bootstrap_servers: str | None = None,
    port: int = 0,
    properties: Mapping[str, str] | None = None,
    python: Path | str = sys.executable,
    tls: ssl.SSLContext | None = None,
) -> Iterator[ServerProcess]:
    """Run a registry, which is ready when the block begins, and stop it after the block.

    Inside the block, `kill()` and `start()` make it crash and restart at the same URL.

    Args:
        storage: `memory:`, `sqlite:///FILE`, or `kafka:` with `bootstrap_servers`.
        bootstrap_servers: the Kafka cluster that keeps the schemas.
        port: 0 picks a free one.
        properties: settings under Confluent's names.
        python: the interpreter of the environment whose server to run.
        tls: a client's context; the server then listens on https://, with the key in `properties`.
    """
    arguments = ["registry", "--storage", storage]
    if bootstrap_servers is not None:
        arguments += ["--bootstrap-servers", bootstrap_servers]
    yield from _running("registry", arguments, port, properties, python, probe="/subjects", tls=tls)


@contextmanager
def running_rest_proxy(
    bootstrap_servers: str,
    schema_registry_url: str,
    *,
    port: int = 0,
    properties: Mapping[str, str] | None = None,
    python: Path | str = sys.executable,
    tls: ssl.SSLContext | None = None,
) -> Iterator[ServerProcess]:
    """Run a REST proxy, which is ready when the block begins, and stop it after the block.

    Args:
        bootstrap_servers: the Kafka cluster that it serves.
        schema_registry_url: the registry for Avro, JSON Schema and Protobuf records.
        port: 0 picks a free one.
        properties: settings under kafka-rest's names.
        python: the interpreter of the environment whose server to run.
        tls: a client's context; the server then listens on https://, with the key in `properties`.
    """
    arguments = ["rest-proxy", "--bootstrap-servers", bootstrap_servers, "--schema-registry-url", schema_registry_url]
    yield from _running("REST proxy", arguments, port, properties, python, probe="/", tls=tls)


def _running(
    name: str,
    arguments: Sequence[str],
    port: int,
    properties: Mapping[str, str] | None,
    python: Path | str,
    *,
    probe: str,
    tls: ssl.SSLContext | None,
) -> Iterator[ServerProcess]:
    folder = process.temporary_folder("magicbyte-server-")
    address = f"127.0.0.1:{port or free_port()}"
    url = f"http://{address}" if tls is None else f"https://{address}"
    command = [*arguments, "--listen", url, "--config", str(_write(folder, properties or {}))]
    server = ServerProcess(name, command, url, log=folder / "log", probe=probe, python=python, tls=tls)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _write(folder: Path, properties: Mapping[str, str]) -> Path:
    file = folder / "settings.properties"
    # A backslash begins an escape in a .properties file.
    lines = (f"{name}={value}\n".replace("\\", "\\\\") for name, value in properties.items())
    file.write_text("".join(lines), encoding="utf-8")
    return file
