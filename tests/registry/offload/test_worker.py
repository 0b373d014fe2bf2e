"""The process that parses and compares large schemas."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from compat.schema import AVRO, SchemaText
from registry.answering import Answering


def niceness_of_children() -> list[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [os.getpriority(os.PRIO_PROCESS, int(child)) for task in tasks for child in task.read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the children of a process")
def test_a_worker_has_a_lower_priority_than_password_hashing() -> None:
    async def run() -> list[int]:
        answering = Answering()
        try:
            await answering.names([SchemaText(AVRO, '"int"')], "client")
            return await asyncio.to_thread(niceness_of_children)
        finally:
            await answering.close()

    assert min(19, os.getpriority(os.PRIO_PROCESS, 0) + 15) in asyncio.run(run())
