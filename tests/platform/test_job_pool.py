"""Jobs done by child processes, which can be killed."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from magicbyte.job_pool import JobDied, JobPool, JobTimeout, PoolBusy

#: What the children do: the first word of a job says.
CHILD = """
import os, time
from magicbyte.job_pool import serve_jobs
def perform(job):
    word, _, rest = job.partition(b" ")
    if word == b"sleep":
        time.sleep(float(rest))
    if word == b"die":
        os._exit(3)
    if word == b"fill":
        bytearray(int(rest))
    return str(os.getpid()).encode() if word == b"pid" else rest
serve_jobs(perform, most_memory=512 << 20)
"""

Use = Callable[[JobPool], Awaitable[None]]


@pytest.fixture
def with_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    (tmp_path / "some_child.py").write_text(CHILD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def run(use: Use, **options: float) -> None:
        async def main() -> None:
            pool = JobPool("some_child", **options)  # type: ignore[arg-type]
            try:
                await use(pool)
            finally:
                await pool.close()

        asyncio.run(main())

    return run


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def ended(pool: JobPool, pid: int) -> None:
    """Wait until a child has ended and been collected."""
    until = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < until
        pool.collect()
        await asyncio.sleep(0.02)


def test_a_child_does_one_job_after_the_other(with_pool: Callable[..., None]):
    async def use(pool: JobPool) -> None:
        large = b"x" * 5_000_000
        assert await pool.run(b"echo " + large, seconds=60) == large
        first = await pool.run(b"pid", seconds=60)
        assert await pool.run(b"pid", seconds=60) == first
        assert is_alive(int(first))

    with_pool(use)


def test_as_many_jobs_are_done_at_a_time_as_there_may_be_children(with_pool: Callable[..., None]):
    async def use(pool: JobPool) -> None:
        jobs = [pool.run(b"sleep 0.5", seconds=60) for _ in range(3)]
        started = time.monotonic()
        assert await asyncio.gather(*jobs) == [b"0.5"] * 3
        assert time.monotonic() - started >= 1.0
        pids = await asyncio.gather(*(pool.run(b"pid", seconds=60) for _ in range(8)))
        assert len(set(pids)) == 2

    with_pool(use, size=2)


def test_a_job_that_takes_too_long_is_killed_and_the_next_is_done(with_pool: Callable[..., None]):
    async def use(pool: JobPool) -> None:
        pid = int(await pool.run(b"pid", seconds=60))
        started = time.monotonic()
        with pytest.raises(JobTimeout):
            await pool.run(b"sleep 60", seconds=0.2)
        assert time.monotonic() - started < 30
        assert int(await pool.run(b"pid", seconds=60)) != pid
        await ended(pool, pid)

    with_pool(use, size=1)


@pytest.mark.parametrize("job", [b"die", b"fill 2000000000"])
def test_a_job_that_ends_its_child_is_told_apart(with_pool: Callable[..., None], job: bytes):
    async def use(pool: JobPool) -> None:
        with pytest.raises(JobDied):
            await pool.run(job, seconds=60)
        assert await pool.run(b"echo a", seconds=60) == b"a"

    with_pool(use, size=1)


def test_a_job_waits_for_a_child_for_a_while_only(with_pool: Callable[..., None]):
    async def use(pool: JobPool) -> None:
        long = asyncio.ensure_future(pool.run(b"sleep 60", seconds=60))
        await asyncio.sleep(0)
        with pytest.raises(PoolBusy):
            await pool.run(b"echo a", seconds=60)
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        assert await pool.run(b"echo a", seconds=60) == b"a"

    with_pool(use, size=1, wait_seconds=0.3)


def test_a_child_without_work_ends(with_pool: Callable[..., None]):
    async def use(pool: JobPool) -> None:
        pid = int(await pool.run(b"pid", seconds=60))
        await ended(pool, pid)
        assert await pool.run(b"echo a", seconds=60) == b"a"

    with_pool(use, idle_seconds=0.0)


def test_a_child_that_ended_without_work_is_replaced(with_pool: Callable[..., None]):
    async def use(pool: JobPool) -> None:
        pid = int(await pool.run(b"pid", seconds=60))
        os.kill(pid, signal.SIGKILL)
        await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert await pool.run(b"echo a", seconds=60) == b"a"

    with_pool(use)
