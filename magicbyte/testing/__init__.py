"""Helpers for tests, ours and our users': real servers on free ports that are gone with the test run."""

from __future__ import annotations

from magicbyte.testing.broker import temporary_broker

__all__ = ["temporary_broker"]
