"""Helpers for tests, ours and our users': real servers on free ports that are gone with the test run."""

from __future__ import annotations

from magicbyte.testing.broker import temporary_broker
from magicbyte.testing.servers import running_registry, running_rest_proxy

__all__ = ["running_registry", "running_rest_proxy", "temporary_broker"]
