"""Stop signals that are held back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from magicbyte.kit.processes.stop_signals import STOP_SIGNALS, held_stop_signals


@pytest.fixture
def received() -> Iterator[list[int]]:
    """The signals that the handlers of this test get."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    signals: list[int] = []
    for number in STOP_SIGNALS:
        signal.signal(number, lambda number, _: signals.append(number))
    yield signals
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_the_first_signal_is_handled_at_the_end(number: int, received: list[int]) -> None:
    with held_stop_signals():
        signal.raise_signal(number)
        signal.raise_signal(signal.SIGTERM)
        assert received == []
    assert received == [number]
    signal.raise_signal(number)
    assert received == [number, number]


def test_an_error_does_not_lose_a_signal(received: list[int]) -> None:
    def fail() -> None:
        with held_stop_signals():
            signal.raise_signal(signal.SIGTERM)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert received == [signal.SIGTERM]


def test_an_ignored_signal_stays_ignored(received: list[int]) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with held_stop_signals():
        signal.raise_signal(signal.SIGHUP)
    signal.raise_signal(signal.SIGHUP)
    assert received == []


def test_another_thread_holds_nothing(received: list[int]) -> None:
    outcome: list[str] = []

    def use() -> None:
        with held_stop_signals():
            outcome.append("done")

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert (outcome, received) == (["done"], [])
