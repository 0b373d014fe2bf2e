"""The metrics of real servers after use, scraped once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.secured_registry import SecuredRegistry
from tests.metrics.exercise import Scrape, scrapes_after_use


@pytest.fixture(scope="session")
def scrapes(kafka: str, secured: SecuredRegistry, tmp_path_factory: pytest.TempPathFactory) -> list[Scrape]:
    """The metrics of each program."""
    return scrapes_after_use(kafka, secured, Path(tmp_path_factory.mktemp("pipeline")))
