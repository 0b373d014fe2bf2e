"""The limits on the time in which records are encoded, with clocks that the tests move."""

from __future__ import annotations

from typing import Any

import pytest

from magicbyte.kit.errors import ApiError
from rest_proxy.formats.plain import DataError
from rest_proxy.produce.time_limit import RefusedTime

BUSY = (
    "Too many requests wait until their records are validated: the refused records before this one took 2 s of"
    " processor time; send it in another request"
)


class Clocks:
    """The processor time that was spent, and the time, in seconds; a value is refused and takes half a second."""

    spent = 0.0
    now = 0.0

    def refuse(self, _value: Any) -> bytes:
        self.spent += 0.5
        raise DataError("", "refused")

    def accept(self, _value: Any) -> bytes:
        self.spent += 0.5
        return b""


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    clocks = Clocks()
    monkeypatch.setattr("rest_proxy.produce.time_limit.seconds_spent", lambda: clocks.spent)
    monkeypatch.setattr("rest_proxy.produce.time_limit.time.monotonic", lambda: clocks.now)
    return clocks


def tries(limit: RefusedTime, clocks: Clocks, count: int) -> list[str]:
    """The outcomes of some refused values."""
    outcomes = []
    encode = limit.limited(clocks.refuse)
    for _ in range(count):
        try:
            limit.check()
            encode("x")
        except DataError:
            outcomes.append("refused")
        except ApiError as error:
            outcomes.append(error.message)
    return outcomes


def test_slow_refusals_do_not_add_up(clocks: Clocks) -> None:
    assert tries(RefusedTime(), clocks, 10) == ["refused"] * 5 + [BUSY] * 5


def test_the_limit_on_refusals_is_one_of_ten_seconds(clocks: Clocks) -> None:
    limit = RefusedTime()
    assert tries(limit, clocks, 6) == ["refused"] * 5 + [BUSY]
    clocks.now = 9.9
    assert tries(limit, clocks, 1) == [BUSY]
    clocks.now = 10.0
    assert tries(limit, clocks, 6) == ["refused"] * 5 + [BUSY]


def test_values_that_are_accepted_may_take_long(clocks: Clocks) -> None:
    limit = RefusedTime()
    encode = limit.limited(clocks.accept)
    assert [encode("x") for _ in range(10)] == [b""] * 10
    limit.check()
