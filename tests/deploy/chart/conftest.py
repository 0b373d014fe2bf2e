"""Fixtures of the chart's tests."""

from __future__ import annotations

import pytest

from tests.deploy.chart.rendering import VALUES, Rendered, render


@pytest.fixture(scope="session")
def rendered() -> dict[str, Rendered]:
    """The objects that the chart renders for each of the eight files of values."""
    return {file.stem: render(file) for file in VALUES}
