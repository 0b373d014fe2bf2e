"""Parts of the proxy on their own, without a broker."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from rest_proxy.consume.consumers import instance_limit, instances
from rest_proxy.consume.consumers.buffer import Buffer
from rest_proxy.consume.consumers.instances import Instances
from rest_proxy.errors import ApiError


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


def _open_instance(held: Instances, failure: Exception) -> Exception:
    """The error of an instance that cannot be made."""

    def make() -> Any:
        raise failure

    with pytest.raises(Exception) as raised:  # noqa: PT011  the caller looks at it
        asyncio.run(held.add("User:a", "a", "g", "i", make))
    return raised.value


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (
            KafkaException(KafkaError(KafkaError._CRIT_SYS_RESOURCE, "Failed to create thread")),
            "Failed to create thread",
        ),
        (RuntimeError("can't start new thread"), "can't start new thread"),
        (RuntimeError("Failed to initialize thread local storage"), "thread local storage"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
    ],
)
def test_an_instance_that_the_system_has_no_room_for_is_too_many(failure: Exception, told: str) -> None:
    held = Instances(idle_seconds=1, limit=2)
    for _ in range(3):  # its name and its place are free again
        error = _open_instance(held, failure)
        assert isinstance(error, ApiError)
        assert (error.status, told in error.message, dict(error.headers)["Retry-After"]) == (429, True, "5")
    other = KafkaException(KafkaError(KafkaError._INVALID_ARG))
    assert _open_instance(held, other) is other


def test_too_many_instances_name_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Instances(idle_seconds=1, limit=0, limit_per_client=1, limited_by="ulimit -n")
    assert "0 are open (ulimit -n)." in str(_open_instance(full, OSError()))
    held = Instances(idle_seconds=1, limit=2)
    count = sum(1 for _ in os.scandir("/dev/fd"))
    with monkeypatch.context() as patched:
        patched.setattr("resource.getrlimit", lambda _: (count + 8, count + 8))
        assert "the limit of open files (ulimit -n) is" in str(_open_instance(held, OSError()))
    with monkeypatch.context() as patched:
        patched.setattr(instance_limit, "_number_in", lambda _: 70)
        assert "threads, and pids.max of the container is 70." in str(_open_instance(held, OSError()))
