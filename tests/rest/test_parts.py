"""Parts of the proxy on their own, without a broker."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from rest_proxy.consume.consumers import instances
from rest_proxy.consume.consumers.buffer import Buffer
from rest_proxy.consume.consumers.instances import Instances


class _Record:
    """A record of one byte."""

    def topic(self) -> str:
        return "t"

    def __len__(self) -> int:
        return 1


class WatchedBuffer(Buffer):
    """Notes whether the lock was held whenever the waiter was looked at or changed."""

    locked: list[bool]
    _set: Any = None

    @property
    def _waiter(self) -> Any:
        self.locked.append(self._lock.locked())
        return self._set

    @_waiter.setter
    def _waiter(self, waiter: Any) -> None:
        if "locked" in vars(self):
            self.locked.append(self._lock.locked())
        else:
            self.locked = []
        self._set = waiter


def test_a_buffer_changes_its_waiter_under_its_lock_only() -> None:
    async def main() -> WatchedBuffer:
        buffer = WatchedBuffer(1000, asyncio.get_running_loop())
        waiting = asyncio.create_task(buffer.wait_for(1, 60))
        await asyncio.sleep(0)
        await asyncio.to_thread(buffer.append, [_Record()])
        await waiting
        buffer.fail(ValueError())
        return buffer

    locked = asyncio.run(main()).locked
    assert len(locked) >= 5
    assert all(locked)


def test_no_task_is_made_while_no_instance_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    async def main() -> None:
        rounds = 0
        sleep = asyncio.sleep

        async def counted(_seconds: float) -> None:
            nonlocal rounds
            rounds += 1
            if rounds > 3:
                raise asyncio.CancelledError
            await sleep(0)

        create_task = asyncio.create_task
        monkeypatch.setattr(instances.asyncio, "sleep", counted)
        monkeypatch.setattr(instances.asyncio, "create_task", lambda task: made.append(task) or create_task(task))
        with contextlib.suppress(asyncio.CancelledError):
            await Instances(idle_seconds=1, limit=1).expire()

    asyncio.run(main())
    assert made == []
