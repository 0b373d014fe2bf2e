"""Fixtures for the tests of every package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from magicbyte.testing import temporary_broker

if TYPE_CHECKING:
    from tests.clients.secured_registry import SecuredRegistry


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """Bootstrap servers of a real broker, one for the whole run: tests name topics and groups of their own."""
    with temporary_broker() as broker:
        yield broker.bootstrap_servers


@pytest.fixture(scope="session")
def secured() -> Iterator[SecuredRegistry]:
    """A registry behind TLS that asks for credentials, one for the whole run: tests name subjects of their own."""
    from tests.clients.secured_registry import secured_registry  # noqa: PLC0415  what it needs takes long to import

    with secured_registry() as registry:
        yield registry
