from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from magicbyte.cli.servers.stopping import StopRequested, stop_on_signals
from magicbyte.kit.processes.stop_signals import STOP_SIGNALS


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    for number in STOP_SIGNALS:  # nohup ignores SIGHUP
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Finalized:
    """Its finalizer gets the signal: an exception that is raised there is lost."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_ends_the_block(number: int) -> None:
    steps = []

    def run() -> None:
        with stop_on_signals():
            steps.append("before the signal")
            os.kill(os.getpid(), number)
            steps.append("never")

    with pytest.raises(StopRequested):
        run()
    assert steps == ["before the signal"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_next_check_reports_a_signal_within_a_finalizer() -> None:
    steps = []

    def run() -> None:
        with stop_on_signals() as check:
            check()
            steps.append("before the signal")
            Finalized()
            steps.append("Python dropped the exception")
            check()
            steps.append("never")

    with pytest.raises(StopRequested):
        run()
    assert steps == ["before the signal", "Python dropped the exception"]
