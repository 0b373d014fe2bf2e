"""mock:// URLs: a registry in memory for each scope, found through an entry point."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest

from compat.schema import SchemaText
from registry.app import create_app
from registry.settings import RegistrySettings
from serdes.client import transport
from serdes.client.clients import AsyncRegistryClient, RegistryClient
from serdes.error import ConfigError

TEXT = SchemaText("AVRO", '"string"')
OPENED: list[str] = []


def open_mock(scope: str) -> Any:
    OPENED.append(scope)
    return create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"}))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    entry = EntryPoint("registry", f"{__name__}:open_mock", transport.MOCK_GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: open_mock)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: EntryPoints([entry]))
    mocks: dict[str, Any] = {}
    monkeypatch.setattr(transport, "_mocks", mocks)
    OPENED.clear()
    yield
    for mock in mocks.values():
        mock.close()


def test_clients_of_one_scope_share_a_registry(installed: None):
    with RegistryClient("mock://a") as first, RegistryClient("mock://a") as second, RegistryClient("mock://b") as other:
        assert first.register("s", TEXT).id == 1
        first.close()
        assert second.subjects() == ["s"]
        assert other.subjects() == []

    async def session() -> list[str]:
        async with AsyncRegistryClient("mock://a") as client:
            return await client.subjects()

    assert asyncio.run(session()) == ["s"]
    assert OPENED == ["a", "b"]


def test_a_mock_url_stands_alone(installed: None):
    with RegistryClient("mock://a,http://b") as client, pytest.raises(ConfigError):
        client.subjects()


def test_no_mock_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: EntryPoints([]))
    with RegistryClient("mock://nobody") as client, pytest.raises(ConfigError, match="no installed package"):
        client.subjects()
