"""The batch of a request: its outcomes, and how many records are counted as acknowledged, failed and unknown."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, Message

from rest_proxy.metrics import ACKNOWLEDGED, FAILED, PRODUCE, UNKNOWN, RecordTally
from rest_proxy.produce.loop_producer import LoopProducer
from rest_proxy.produce.sent import Batch, outcomes_in_time

TOO_LARGE = KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)
#: The broker may have the record.
TIMED_OUT = KafkaError(KafkaError._MSG_TIMED_OUT)
ARRIVED = object()
#: The record has no delivery report when the time is over.
LATE = None


class Report:
    """The delivery report of an acknowledged record."""

    def partition(self) -> int:
        """The partition."""
        return 2

    def offset(self) -> int:
        """The offset."""
        return 7


class Queue:
    """A producer that sends nothing; it completes a batch once all its records are settled."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.never_sends = False

    def begin(self) -> None:
        """Accept a batch."""

    def undelivered(self, error: KafkaError, *, was_never_sent: bool) -> KafkaError:
        """The error of the delivery report."""
        assert not was_never_sent
        return error

    def finish(self, batch: Batch) -> None:
        """Complete a batch."""
        batch.complete()


@pytest.mark.parametrize(
    ("reports", "counts", "size"),
    [
        ([ARRIVED, ARRIVED, ARRIVED], {ACKNOWLEDGED: 3}, 30),
        ([ARRIVED, TOO_LARGE, ARRIVED], {ACKNOWLEDGED: 2, FAILED: 1}, 20),
        ([TOO_LARGE, TOO_LARGE, ARRIVED], {ACKNOWLEDGED: 1, FAILED: 2}, 10),
        ([TOO_LARGE, TOO_LARGE, TOO_LARGE], {FAILED: 3}, 0),
        ([ARRIVED, TIMED_OUT, TOO_LARGE], {ACKNOWLEDGED: 1, UNKNOWN: 1, FAILED: 1}, 10),
        ([LATE, ARRIVED, ARRIVED], {ACKNOWLEDGED: 2, UNKNOWN: 1}, 20),
        ([LATE, LATE, TOO_LARGE], {UNKNOWN: 2, FAILED: 1}, 0),
        ([LATE, LATE, LATE], {UNKNOWN: 3}, 0),
    ],
)
def test_records_are_counted_by_what_their_client_is_told(
    reports: list[Any], counts: dict[str, int], size: int
) -> None:
    tally = RecordTally(PRODUCE, "json")
    # By identity: the client library's errors cannot be compared with None.
    is_late = any(report is LATE for report in reports)

    async def settled() -> Batch:
        producer = cast("LoopProducer", Queue(asyncio.get_running_loop()))
        batch = Batch(3, 300, producer, tally, 30)
        for index, report in enumerate(reports):
            if report is ARRIVED:
                batch.settle(index, None, cast("Message", Report()))
            elif report is not LATE:
                batch.settle(index, report, None)
        if is_late:
            assert not batch.done.done()
            batch.give_up()
        await batch.done
        return batch

    batch = asyncio.run(settled())
    assert (tally.outcomes, tally.size) == (counts, size)
    outcomes = outcomes_in_time(batch, 1000)
    assert sum(outcome == (2, 7, None, None) for outcome in outcomes) == counts.get(ACKNOWLEDGED, 0)
    assert sum(outcome[2] is not None for outcome in outcomes) == counts.get(FAILED, 0) + counts.get(UNKNOWN, 0)
    assert batch.is_late is is_late
