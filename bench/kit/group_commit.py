"""The least that a registration costs: a record, a commit shared with those who wait, and with `serve` an HTTP answer.

    python bench/kit/group_commit.py BOOTSTRAP_SERVERS PORT

answers every POST on the port once its body is committed to a topic of its own: no schema is read, nothing decided.
"""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from registry.log.kafka import KafkaLog
from registry.log.port import BEGINNING, Log, Offset, Record
from registry.log.topic import prepare_topic

#: An empty log of one's own, and the offset of the last record in it.
OpenLog = tuple[Log, Offset]
#: How long a commit waits for those who were answered with the one before, at the most, in seconds.
_LONGEST_WAIT = 0.005


def kafka_log(bootstrap_servers: str) -> OpenLog:
    """A topic of one's own, with the writer open."""
    topic = f"bare-{uuid.uuid4()}"
    client = {"bootstrap.servers": bootstrap_servers}
    prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=10)
    log = KafkaLog(client, topic, topic)
    log.open_writer()
    return log, log.settle([Record(b"first", None, 0)], BEGINNING)


class GroupCommit:
    """A thread that takes what waits, appends it at once, and wakes those whose records were in it."""

    def __init__(self, opened: OpenLog) -> None:
        self._log, self._after = opened
        self._waiting: queue.SimpleQueue[tuple[Record, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._enough = threading.Event()
        self._awaited = sys.maxsize
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    async def commit(self, record: Record) -> None:
        """Return once the record is in the log."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._waiting.put((record, future))
        if self._waiting.qsize() >= self._awaited:
            self._enough.set()
        await future

    async def close(self) -> None:
        """End the thread and close the log."""
        self._waiting.put(None)
        await asyncio.to_thread(self._thread.join)
        self._log.close()

    def _run(self) -> None:
        together, took = 1, 0.0
        while (first := self._waiting.get()) is not None:
            self._await(together - 1, min(took, _LONGEST_WAIT))
            batch = [first]
            while not self._waiting.empty() and (following := self._waiting.get()) is not None:
                batch.append(following)
            started = time.perf_counter()
            self._after = self._log.append([record for record, _ in batch], self._after)
            took = time.perf_counter() - started
            self._loop.call_soon_threadsafe(_wake, [future for _, future in batch])
            together = len(batch) + self._waiting.qsize()

    def _await(self, others: int, seconds: float) -> None:
        """Let those come back who were answered last, else they fall into two groups that wait for each other."""
        self._enough.clear()
        self._awaited = others
        if self._waiting.qsize() < others:
            self._enough.wait(seconds)
        self._awaited = sys.maxsize


def _wake(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        future.set_result(None)


def serve(bootstrap_servers: str, port: int) -> None:
    """Answer until the process is ended."""
    import uvicorn

    opened = kafka_log(bootstrap_servers)
    committing: GroupCommit | None = None
    answer = b'{"id":1}'
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]

    async def app(
        _scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[MutableMapping[str, Any]], Awaitable[None]]
    ) -> None:
        nonlocal committing
        committing = committing or GroupCommit(opened)
        body = (await receive())["body"]
        await committing.commit(Record(uuid.uuid4().bytes, body, 0))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    uvicorn.run(
        app,
        port=port,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
    )


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
