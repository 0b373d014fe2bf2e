"""Jobs done by worker processes, which can be killed."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from magicbyte.kit.processes.async_worker_pool import AsyncWorkerPool
from magicbyte.kit.processes.worker_pool import (
    PoolBusy,
    Worker,
    WorkerDied,
    WorkerKilled,
    WorkerOutOfCpu,
    WorkerOutOfMemory,
    WorkerPool,
    WorkerTimeout,
    WorkerUnavailable,
)
from tests.garbage import left_in_cycles, uncollected

#: What the workers do: the first word of a message says.
WORKER = """
import os, time
from magicbyte.kit.processes.worker_pool import serve
def answer(message, ask):
    word, _, rest = message.partition(b" ")
    if word == b"first":
        yield b"first"
    if word in (b"sleep", b"pid"):
        time.sleep(float(rest or 0))
    if b"spin" in (word, rest):
        while True:
            pass
    if word == b"die":
        os._exit(3)
    if word == b"ask":
        rest = b" ".join([ask(rest), ask(b"again")])
    if word == b"fill":
        bytearray(int(rest))
    yield str(os.getpid()).encode() if word == b"pid" else rest
serve(answer, memory_bytes=512 << 20, idle_seconds=float(os.environ.get("IDLE_SECONDS", "60")))
"""

Use = Callable[[AsyncWorkerPool], Awaitable[None]]


@pytest.fixture(autouse=True)
def _some_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_worker.py").write_text(WORKER)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def with_pool() -> Callable[..., None]:
    def run(use: Use, **options: float) -> None:
        async def main() -> None:
            pool = AsyncWorkerPool("some_worker", **options)  # type: ignore[arg-type]
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


async def ended(pid: int) -> None:
    """Wait until a worker has ended; it may not have been waited for."""
    with suppress(ChildProcessError):
        await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def test_a_worker_does_one_job_after_the_other(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        large = b"x" * 5_000_000
        assert await pool.run(b"echo " + large, seconds=60, client="a") == large
        first = await pool.run(b"pid", seconds=60, client="a")
        assert await pool.run(b"pid", seconds=60, client="a") == first
        assert is_alive(int(first))

    with_pool(use)


def test_the_pool_runs_one_job_per_worker_at_a_time(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        jobs = [pool.run(b"sleep 0.5", seconds=60, client="a") for _ in range(3)]
        started = time.monotonic()
        assert await asyncio.gather(*jobs) == [b"0.5"] * 3
        assert time.monotonic() - started >= 1.0
        pids = await asyncio.gather(*(pool.run(b"pid 0.3", seconds=60, client="a") for _ in range(8)))
        assert len(set(pids)) == 2

    with_pool(use, size=2)


def test_a_client_gets_a_worker_while_another_client_runs_long_jobs(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        attack = [asyncio.ensure_future(pool.run(b"sleep 60", seconds=60, client="attacker")) for _ in range(50)]
        await asyncio.sleep(0)
        assert await asyncio.wait_for(pool.run(b"echo a", seconds=60, client="innocent"), 40) == b"a"
        for job in attack:
            job.cancel()
        await asyncio.gather(*attack, return_exceptions=True)

    with_pool(use, size=2)


@pytest.mark.parametrize(
    ("message", "failure"),
    [(b"die ", WorkerDied), (b"sleep 60", WorkerTimeout), (b"fill 600000000", WorkerOutOfMemory)],
)
def test_a_job_that_fails_leaves_nothing_to_the_garbage_collector(
    with_pool: Callable[..., None], message: bytes, failure: type[Exception]
):
    """A message may have megabytes, and would stay until the next search for cycles."""

    async def fail(pool: AsyncWorkerPool) -> None:
        with pytest.raises(failure):
            await pool.run(message, seconds=0.1 if failure is WorkerTimeout else 60, client="a")

    async def use(pool: AsyncWorkerPool) -> None:
        await fail(pool)
        with uncollected():
            for _ in range(3):
                await fail(pool)
            assert left_in_cycles(failure) == []

    with_pool(use, size=1)


def test_the_pool_kills_a_slow_job_and_runs_the_next_job(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        pid = int(await pool.run(b"pid", seconds=60, client="a"))
        started = time.monotonic()
        with pytest.raises(WorkerTimeout):
            await pool.run(b"sleep 60", seconds=0.2, client="a")
        assert time.monotonic() - started < 30
        assert int(await pool.run(b"pid", seconds=60, client="a")) != pid
        assert not is_alive(pid)

    with_pool(use, size=1)


@pytest.mark.parametrize("job", [b"die", b"fill 2000000000"])
def test_the_error_distinguishes_a_job_that_ends_its_worker(with_pool: Callable[..., None], job: bytes):
    async def use(pool: AsyncWorkerPool) -> None:
        with pytest.raises(WorkerDied):
            await pool.run(job, seconds=60, client="a")
        assert await pool.run(b"echo a", seconds=60, client="a") == b"a"

    with_pool(use, size=1)


def test_a_job_waits_for_a_worker_for_a_while_only(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        long = asyncio.ensure_future(pool.run(b"sleep 60", seconds=60, client="a"))
        await asyncio.sleep(0)
        with pytest.raises(PoolBusy):
            await pool.run(b"echo a", seconds=60, client="a")
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        assert await pool.run(b"echo a", seconds=60, client="a") == b"a"

    with_pool(use, size=1, wait_seconds=0.3)


def test_the_pool_kills_a_cancelled_job_at_once(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        pid = int(await pool.run(b"pid", seconds=60, client="a"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await pool.run(b"sleep 60", seconds=60, client="a")
        await ended(pid)
        assert await pool.run(b"echo a", seconds=60, client="a") == b"a"

    with_pool(use, size=1)


def test_closing_the_pool_ends_running_jobs(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        pid = int(await pool.run(b"pid", seconds=60, client="a"))
        at_work, queued = (asyncio.ensure_future(pool.run(b"sleep 60", seconds=60, client="a")) for _ in range(2))
        while pool._pool._idle:  # noqa: ASYNC110 - a thread takes it
            await asyncio.sleep(0.01)
        await pool.close()
        assert not is_alive(pid)
        with pytest.raises(WorkerTimeout, match=r"^it was stopped$"):
            await at_work
        with pytest.raises(PoolBusy):
            await queued

    with_pool(use, size=1)


async def warmed(pool: AsyncWorkerPool) -> int:
    """Warm a pool up, and return the process id of the worker that waits for a job."""
    pool.warm_up()
    async with asyncio.timeout(30):
        while not pool._pool.has_idle:  # noqa: ASYNC110 - a thread starts it
            await asyncio.sleep(0.01)
    (worker,) = pool._pool._idle
    return worker._process.pid


def test_a_pool_that_is_warmed_up_has_one_worker_for_the_next_job(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        pool.warm_up()
        pid = await warmed(pool)
        pool.warm_up()
        assert int(await pool.run(b"pid", seconds=60, client="a")) == pid
        assert len(pool._pool._idle) == 1

    with_pool(use)


def test_a_job_waits_for_the_worker_that_is_starting(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        pool.warm_up()
        first = await pool.run(b"pid", seconds=60, client="a")
        assert await pool.run(b"pid", seconds=60, client="a") == first
        assert len(pool._pool._idle) == 1

    with_pool(use)


def test_a_pool_can_be_warmed_up_again(with_pool: Callable[..., None], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("IDLE_SECONDS", "0.2")

    async def use(pool: AsyncWorkerPool) -> None:
        first = await warmed(pool)
        await ended(first)
        assert await warmed(pool) != first

    with_pool(use)


def test_a_warm_pool_starts_no_worker_during_a_job_or_after_close(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        at_work = asyncio.create_task(pool.run(b"sleep 0.2", seconds=60, client="a"))
        while not pool._jobs:  # noqa: ASYNC110 - it has begun when it is there
            await asyncio.sleep(0)
        pool.warm_up()
        await at_work
        assert len(pool._pool._idle) == 1
        pool._pool.close()
        pool.warm_up()
        starting = pool._starting
        assert starting is not None
        await asyncio.sleep(0)
        await pool.close()
        await asyncio.wait((starting,))
        pool.warm_up()
        assert pool._starting is None
        assert not pool._pool._idle

    with_pool(use)


def test_the_next_job_reports_a_worker_that_failed_to_start(caplog: pytest.LogCaptureFixture):
    async def main() -> None:
        pool = AsyncWorkerPool("no_such_module")
        with caplog.at_level("INFO"):
            pool.warm_up()
            with pytest.raises(WorkerUnavailable):
                await pool.run(b"pid", seconds=60, client="a")
        assert "no worker was started ahead of its first job: its worker process did not start" in caplog.text
        await pool.close()

    asyncio.run(main())


def test_a_worker_may_ask_its_caller_before_answering(with_pool: Callable[..., None]):
    questions = []

    async def reply(question: bytes) -> bytes:
        questions.append(question)
        return question.upper() * 100_000

    async def use(pool: AsyncWorkerPool) -> None:
        answer = await pool.run(b"ask who", seconds=60, client="a", reply=reply)
        assert answer == b"WHO" * 100_000 + b" " + b"AGAIN" * 100_000
        assert await pool.run(b"echo a", seconds=60, client="a", reply=reply) == b"a"
        assert questions == [b"who", b"again"]

    with_pool(use)


def test_a_reply_counts_for_the_time_of_a_job(with_pool: Callable[..., None]):
    given_up = asyncio.Event()

    async def reply(_question: bytes) -> bytes:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            given_up.set()
            raise
        return b""

    async def use(pool: AsyncWorkerPool) -> None:
        with pytest.raises(WorkerTimeout, match=r"^it took more than 0\.2 s$"):
            await pool.run(b"ask who", seconds=0.2, client="a", reply=reply)
        await asyncio.wait_for(given_up.wait(), 30)
        assert await pool.run(b"echo a", seconds=60, client="a") == b"a"

    with_pool(use, size=1)


def test_a_job_that_is_cancelled_gets_no_reply(with_pool: Callable[..., None]):
    asked, given_up = asyncio.Event(), asyncio.Event()

    async def reply(_question: bytes) -> bytes:
        asked.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            given_up.set()
            raise
        return b""

    async def use(pool: AsyncWorkerPool) -> None:
        job = asyncio.ensure_future(pool.run(b"ask who", seconds=60, client="a", reply=reply))
        await asked.wait()
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        await asyncio.wait_for(given_up.wait(), 30)
        assert await pool.run(b"echo a", seconds=60, client="a") == b"a"

    with_pool(use, size=1)


def test_the_pool_replaces_a_worker_killed_during_its_question_once(with_pool: Callable[..., None]):
    pids: list[int] = []

    async def reply(question: bytes) -> bytes:
        if question == b"who" and len(pids) < 2:
            os.kill(pids[-1], signal.SIGKILL)
            await ended(pids[-1])
            pids.append(0)
        return question

    async def use(pool: AsyncWorkerPool) -> None:
        pids.append(int(await pool.run(b"pid", seconds=60, client="a")))
        assert await pool.run(b"ask who", seconds=60, client="a", reply=reply) == b"who again"

    with_pool(use, size=1)


def test_the_kernel_ends_a_job_that_takes_too_much_processor_time(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        with pytest.raises(WorkerOutOfCpu, match=r"^it took more than 0\.1 s of processor time$"):
            await pool.run(b"spin", seconds=60, client="a", cpu_seconds=0.1)
        assert await pool.run(b"echo a", seconds=60, client="a") == b"a"

    with_pool(use, size=1)


def test_a_worker_without_work_ends(with_pool: Callable[..., None], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("IDLE_SECONDS", "0.05")

    async def use(pool: AsyncWorkerPool) -> None:
        pid = int(await pool.run(b"pid", seconds=60, client="a"))
        await ended(pid)
        assert await pool.run(b"echo a", seconds=60, client="a") == b"a"
        assert not is_alive(pid)

    with_pool(use)


def test_a_worker_that_ended_without_work_is_replaced(with_pool: Callable[..., None]):
    async def use(pool: AsyncWorkerPool) -> None:
        pid = int(await pool.run(b"pid", seconds=60, client="a"))
        os.kill(pid, signal.SIGKILL)
        assert await pool.run(b"echo a", seconds=60, client="a") == b"a"

    with_pool(use)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool("some_worker", size=1, wait_seconds=0.1)
    yield pool
    pool.close()


def asked(pool: WorkerPool, message: bytes, **limits: float) -> bytes:
    return pool.run(lambda worker: worker.ask(message, **{"seconds": 60.0, **limits}))


def test_threads_wait_for_a_worker_for_a_while_only(pool: WorkerPool):
    def use(worker: Worker) -> bytes:
        with pytest.raises(PoolBusy, match=r"^no worker was free within 0\.1 s$"):
            asked(pool, b"echo a")
        return worker.ask(b"echo b", seconds=60)

    assert pool.run(use) == b"b"


def test_the_kernel_ends_a_worker_that_takes_too_much_processor_time(pool: WorkerPool):
    assert asked(pool, b"echo a", cpu_seconds=0.1) == b"a"
    with pytest.raises(WorkerTimeout, match=r"^it took more than 0\.1 s of processor time$"):
        asked(pool, b"spin", cpu_seconds=0.1)
    assert asked(pool, b"echo a") == b"a"


def test_the_error_distinguishes_a_killed_worker(pool: WorkerPool):
    def use(worker: Worker) -> bytes:
        pid = int(worker.ask(b"pid", seconds=60))
        os.kill(pid, signal.SIGKILL)
        return worker.ask(b"echo a", seconds=60)

    with pytest.raises(WorkerKilled, match=r"^its worker ended with SIGKILL$"):
        pool.run(use)


def test_the_error_names_the_exception_of_the_worker(pool: WorkerPool):
    with pytest.raises(WorkerOutOfMemory, match=r"^it met MemoryError\(\)$"):
        asked(pool, b"fill 2000000000")


def test_the_second_part_of_an_answer_may_fail_alone(pool: WorkerPool):
    def use(worker: Worker) -> bytes:
        first = worker.ask(b"first spin", seconds=60, cpu_seconds=0.1)
        with pytest.raises(WorkerTimeout):
            worker.receive(60)
        return first

    assert pool.run(use) == b"first"
    # The worker that was killed meanwhile is not used again.
    assert asked(pool, b"echo a") == b"a"


def test_an_interrupted_conversation_ends_its_worker(pool: WorkerPool):
    def use(worker: Worker) -> None:
        worker.ask(b"first", seconds=60)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.run(use)
    # An answer that was not received would be taken for that of the next message.
    assert asked(pool, b"echo a") == b"a"


def test_a_module_that_does_not_start():
    with pytest.raises(WorkerUnavailable, match=r"^its worker process did not start: its worker ended with 1$"):
        asked(WorkerPool("no_such_module"), b"echo a")
