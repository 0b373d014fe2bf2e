"""Fixtures for the tests of every package."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from magicbyte.testing import temporary_broker


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """Bootstrap servers of a real broker, one for the whole run: tests name topics and groups of their own."""
    with temporary_broker() as broker:
        yield broker.bootstrap_servers
