from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.generate.packages import Package


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Writes and imports generated files."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = Package(tmp_path)
    yield made
    made.forget()
