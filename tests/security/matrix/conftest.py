"""Whoever asks the proxy, and the loop in which it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.security.matrix.credentials import Identities
from tests.security.matrix.proxy import PEER


@pytest.fixture(scope="session")
def proxy_identities(tmp_path_factory: pytest.TempPathFactory) -> Identities:
    """Identities of the proxy's clients."""
    return Identities(tmp_path_factory.mktemp("identities"), audience=PEER)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner
