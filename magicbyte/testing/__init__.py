"""Helpers for our tests and our users' tests: real servers on free ports, stopped at the end of the test run.

Names are imported when they are first used, because every run of pytest loads the pytest plugin.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from magicbyte.testing.broker import temporary_broker
    from magicbyte.testing.servers import running_registry, running_rest_proxy

__all__ = ["running_registry", "running_rest_proxy", "temporary_broker"]

_MODULES = {
    "running_registry": "magicbyte.testing.servers",
    "running_rest_proxy": "magicbyte.testing.servers",
    "temporary_broker": "magicbyte.testing.broker",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
