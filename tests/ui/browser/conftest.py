"""Servers of browser tests serve the built page where Node is there to build it, else the modules of the checkout.

The built page loads in a third of the CPU. `frame/test_served.py` tests the modules of the checkout.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _built_page(request: pytest.FixtureRequest) -> Iterator[None]:
    if shutil.which("npm") is None:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(request.getfixturevalue("wheel")), prepend=":")
        yield
