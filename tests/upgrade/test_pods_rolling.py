"""A short rolling update of three registry pods under reads and writes; `make test-rolling` takes its time."""

from __future__ import annotations

import pytest

from magicbyte.testing import temporary_broker
from tests.upgrade.pods_rolling import Pace, run


@pytest.mark.slow
def test_a_rolling_update_fails_no_request_and_loses_no_write() -> None:
    with temporary_broker() as broker:
        assert run(broker.bootstrap_servers, rounds=1, pace=Pace(pre_stop=1.5, gap=0.5), seed=1) == []
