"""A warning that any number of requests may cause."""

from __future__ import annotations

import logging

import pytest

from magicbyte.kit.logs.formats import message_of
from magicbyte.kit.logs.repeats import OccasionalWarning


def test_an_occasional_warning_logs_the_first_event_and_then_a_count_per_interval(caplog: pytest.LogCaptureFixture):
    now = 1000.0
    warn = OccasionalWarning(
        logging.getLogger("magicbyte.test"), "seen", "%s was seen", seconds=60, clock=lambda: now, start_timer=False
    )
    for name in ("a", "b", "c"):
        warn(name, address="::1")
    now += 59.9
    warn("d")
    assert [record.getMessage() for record in caplog.records] == ["a was seen"]
    assert vars(caplog.records[0])["address"] == "::1"
    now += 0.1
    warn("e")
    now += 60
    warn("f")
    assert [message_of(record) for record in caplog.records][1:] == [
        "e was seen (and 3 more like it since the last such line)",
        "f was seen",
    ]
