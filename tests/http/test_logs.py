"""The server's log: lines of one turn of the event loop are one write, and none is late or lost."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import threading
from collections.abc import Iterator

import pytest

from magicbyte.kit.logs.formats import JsonFormatter
from magicbyte.kit.logs.handler import LineHandler


class Writes(io.StringIO):
    """A stream that keeps each write."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[list[str]] = []

    def write(self, text: str) -> int:
        self.written.append([json.loads(line)["msg"] for line in text.splitlines()])
        return len(text)


@pytest.fixture
def writes() -> Writes:
    return Writes()


@pytest.fixture
def log(writes: Writes) -> Iterator[logging.Logger]:
    handler = LineHandler(writes)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("tests.lines")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield logger
    logger.removeHandler(handler)


def test_the_lines_of_one_turn_of_the_loop_are_one_write(log: logging.Logger, writes: Writes) -> None:
    async def serve() -> None:
        log.info("a")
        log.info("b")
        assert writes.written == []
        await asyncio.sleep(0)
        assert writes.written == [["a", "b"]]
        log.info("c")

    asyncio.run(serve())
    log.handlers[0].flush()
    assert writes.written == [["a", "b"], ["c"]]


def test_a_warning_is_written_at_once_behind_what_waits(log: logging.Logger, writes: Writes) -> None:
    async def serve() -> None:
        log.info("a")
        log.warning("b")
        assert writes.written == [["a", "b"]]

    asyncio.run(serve())


def test_another_thread_writes_at_once_and_keeps_the_order(log: logging.Logger, writes: Writes) -> None:
    async def serve() -> None:
        log.info("a")
        thread = threading.Thread(target=log.info, args=("b",))
        thread.start()
        thread.join()
        assert writes.written == [["a", "b"]]

    asyncio.run(serve())
