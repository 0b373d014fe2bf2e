from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

from registry.app import create_app
from registry.settings import RegistrySettings
from serdes.client.asgi import AsgiTransport
from serdes.client.clients import CacheLimits, RegistryClient, Retry

#: The Python that has grpcio-tools; `make test-versions` tests versions of protobuf that it does not run with.
PROTOC_PYTHON = os.environ.get("MAGICBYTE_PROTOC_PYTHON", sys.executable)


class Asked:
    """An ASGI app in front of another, noting what it is asked."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.requests: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.requests.append(f"{scope['method']} {scope['path']}")
        await self._app(scope, receive, send)


@pytest.fixture
def app() -> Asked:
    """A registry of its own, in memory, in this process."""
    return Asked(create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"})))


@pytest.fixture
def transport(app: Asked) -> Iterator[AsgiTransport]:
    transport = AsgiTransport(app)
    yield transport
    transport.close()


@pytest.fixture
def client(transport: AsgiTransport) -> Iterator[RegistryClient]:
    limits = CacheLimits(latest_ttl=None)
    with RegistryClient("http://registry", transport=transport, retry=Retry(0), cache=limits) as client:
        yield client


@pytest.fixture(scope="session")
def protobuf_classes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, str]], Callable[[str], Any]]:
    """Compiles files by name with protoc, and gives the classes of their messages by full name."""

    def compiled(files: dict[str, str]) -> Callable[[str], Any]:
        folder = tmp_path_factory.mktemp("protobuf")
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        out = folder / "set.bin"
        arguments = [f"-I{folder}", "--include_imports", f"--descriptor_set_out={out}", *files]
        subprocess.run([PROTOC_PYTHON, "-m", "grpc_tools.protoc", *arguments], check=True)
        pool = DescriptorPool()
        for file in FileDescriptorSet.FromString(out.read_bytes()).file:
            pool.Add(file)
        return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))

    return compiled
