"""Memory that runs out between the log and the view ends the node; no record counts as undecodable for it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from confluent_kafka import Consumer

from registry.cluster.commit import out_of_memory
from registry.cluster.commit.committer import Committer
from registry.cluster.lead.takeover import amends
from registry.decide import Decision
from registry.log import reader as reader_module
from registry.log.memory import MemoryLog
from registry.log.port import BEGINNING, LogEntry, Offset, Record
from registry.log.reader import TopicReader
from registry.state import json_text
from registry.state.json_text import load_json
from registry.state.records import Key, decode_key, decode_value, encode_key
from registry.state.view import View

#: A process whose address space has 30 MB to spare, where orjson needs 78 MB for this value.
LIMITED = """
import json, resource
from registry.log.port import LogEntry
from registry.state.view import View

key = b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}'
value = json.dumps({"subject": "s", "version": 1, "id": 1, "schema": "x" * 6_500_000}).encode()
view = View()
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 30_000_000,) * 2)
try:
    view.apply(LogEntry(0, key, value, 0))
except MemoryError as error:
    print(error, view.offset, dict(view.passed_over))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits on the address space are Linux's")
def test_a_node_without_memory_does_not_skip_a_record() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", LIMITED], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "not enough memory to read 6500053 bytes of JSON -1 {}\n", done.stderr


class NoMemory(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The exit codes with which the process would have ended."""
    codes: list[int] = []

    def end(code: int) -> None:
        codes.append(code)
        raise NoMemory

    monkeypatch.setattr(out_of_memory.os, "_exit", end)
    return codes


@pytest.fixture
def without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make orjson answer as it does without memory for a text of over 1000 bytes."""
    loads = json_text.orjson.loads

    def limited(text: bytes) -> Any:
        if len(text) > 1000:
            raise json.JSONDecodeError("Not enough memory to allocate buffer for parsing", "", 0)
        return loads(text)

    monkeypatch.setattr(json_text, "orjson", Orjson(limited))


class Orjson:
    """The part of orjson that the reader of JSON uses."""

    JSONDecodeError = json.JSONDecodeError

    def __init__(self, loads: Any) -> None:
        self.loads = loads


LARGE = json.dumps({"subject": "s", "version": 1, "id": 1, "schema": "x" * 2000}).encode()
KEY = encode_key(Key("SCHEMA", "s", 1))


@pytest.mark.usefixtures("without_memory")
@pytest.mark.parametrize("read", [load_json, decode_value, decode_key])
def test_a_lack_of_memory_is_no_fault_of_the_text(read: Any) -> None:
    with pytest.raises(MemoryError, match="not enough memory to read 2053 bytes of JSON"):
        read(LARGE)


@pytest.mark.usefixtures("without_memory")
def test_a_new_leader_without_memory_skips_no_record() -> None:
    with pytest.raises(MemoryError):
        amends(View(), [LogEntry(0, KEY, LARGE, 0)], 5)


@pytest.mark.usefixtures("without_memory")
def test_a_node_that_reads_ends_with_1(ended: list[int], caplog: pytest.LogCaptureFixture) -> None:
    log = MemoryLog()
    log.append([Record(KEY, LARGE, 0)], BEGINNING)
    view = View()
    with pytest.raises(NoMemory):
        Committer(log, view).catch_up()
    assert ended == [1]
    assert (view.offset, view.passed_over) == (BEGINNING, {})
    assert caplog.messages == [
        "out of memory (not enough memory to read 2053 bytes of JSON); the node ends: start it again with more memory"
    ]


class FullLog(MemoryLog):
    """A log that runs out of memory once it has the records."""

    def append(self, records: Sequence[Record], after: Offset, epoch: int = 0, /) -> Offset:
        super().append(records, after, epoch)
        raise MemoryError


def test_a_node_ends_with_1_if_the_outcome_of_an_append_is_unknown(
    ended: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    unhandled: list[type[BaseException] | None] = []
    monkeypatch.setattr("threading.excepthook", lambda arguments: unhandled.append(arguments.exc_type))
    committer = Committer(FullLog(), View())
    waiting = committer.submit(lambda _view, now: Decision(None, (Record(KEY, b"{}", now),)))
    committer.start()
    committer.stop()
    assert (ended, unhandled) == ([1], [NoMemory])
    assert not waiting.is_done


@pytest.mark.parametrize(("error", "code"), [(MemoryError("none left"), [1]), (ValueError("another"), [])])
def test_a_thread_that_ends_for_lack_of_memory_ends_the_process(
    ended: list[int], monkeypatch: pytest.MonkeyPatch, error: Exception, code: list[int]
) -> None:
    usual: list[type[BaseException]] = []
    monkeypatch.setattr("threading.excepthook", lambda arguments: usual.append(arguments.exc_type))

    def fail() -> None:
        raise error

    out_of_memory.end_process_with_threads()
    thread = threading.Thread(target=fail)
    with suppress(NoMemory):
        thread.start()
        thread.join()
    assert ended == code
    assert usual == ([] if code else [ValueError])


@pytest.mark.usefixtures("without_memory")
def test_decisions_that_run_out_of_memory_are_not_appended(ended: list[int], monkeypatch: Any) -> None:
    monkeypatch.setattr("threading.excepthook", lambda _arguments: None)
    log = MemoryLog()
    committer = Committer(log, View())
    waiting = committer.submit(lambda _view, now: Decision(None, (Record(KEY, LARGE, now),)))
    committer.start()
    committer.stop()
    assert ended == [1]
    assert not waiting.is_done
    assert log.end() == BEGINNING


class ForgetfulConsumer(Consumer):
    """A consumer that has no memory for the messages that it has taken, as the client library tells of it."""

    def poll(self, _timeout: float = -1) -> Any:
        raise SystemError("returned a result with an exception set") from MemoryError("no memory for a message")


def test_a_node_reads_a_record_again_after_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch, kafka: str) -> None:
    monkeypatch.setattr(reader_module, "Consumer", ForgetfulConsumer)
    reader = TopicReader({"bootstrap.servers": kafka}, "none", isolation="read_committed")
    reader.seek(7)
    assert reader.last == 7
    with pytest.raises(MemoryError, match="no memory for a message"):
        reader.poll(1)
    # So that the next seek goes back.
    assert reader.last is None
    reader.close()
