"""Lines of Kafka's clients: one for a broker's outage, one each minute, and one at its end."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from magicbyte.kit.kafka.log_lines import kind_of, no_connection
from magicbyte.kit.kafka.outages import Outages
from magicbyte.kit.logs.formats import message_of

REFUSED = "127.0.0.1:9/bootstrap: Connect to ipv4#127.0.0.1:9 failed: Connection refused (after 0ms in state CONNECT)"
AGAIN = REFUSED.replace("CONNECT)", "CONNECT, 3 identical error(s) suppressed)")
FAIL = "FAIL [rdkafka#producer-2] [thrd:127.0.0.1:9/bootstrap]: "
TIMED_OUT = "[thrd:b:1/1]: b:1/1: 2 request(s) timed out: disconnect (average rtt 1.0ms)"


@pytest.mark.parametrize(
    ("line", "address", "cause"),
    [
        (FAIL + REFUSED, "127.0.0.1:9", "Connection refused"),
        (f"producer: {AGAIN}", "127.0.0.1:9", "Connection refused"),
        (f"no Kafka broker answers at 127.0.0.1:9: {AGAIN}", "127.0.0.1:9", "Connection refused"),
        ("no connection to 127.0.0.1:9: [Errno 111] Connection refused", "127.0.0.1:9", "Connection refused"),
        ("no connection to [::1]:9: [Errno 111] Connection refused", "[::1]:9", "Connection refused"),
        (
            "FAIL [rdkafka#consumer-1] [thrd:GroupCoordinator]: GroupCoordinator: k-1.example:9092: Connect to"
            " ipv4#10.0.0.1:9092 failed: No route to host (after 5ms in state CONNECT)",
            "k-1.example:9092",
            "No route to host",
        ),
        (
            "FAIL [a] [thrd:sasl_ssl://k:9093/bootstrap]: sasl_ssl://k:9093/bootstrap: Failed to resolve 'k:9093': Name"
            " or service not known (after 2ms in state CONNECT)",
            "k:9093",
            "Failed to resolve 'k:9093': Name or service not known",
        ),
        (
            "FAIL [a] [thrd:k:9093/2]: k:9093/2: SSL handshake failed: expired (after 2ms in state SSL_HANDSHAKE)",
            "k:9093",
            "SSL handshake failed: expired",
        ),
    ],
)
def test_a_line_names_the_broker_and_the_cause(line: str, address: str, cause: str) -> None:
    assert no_connection(line) == (address, cause)


@pytest.mark.parametrize(
    "line",
    [
        "producer: 1/1 brokers are down",
        TIMED_OUT,
        "the access rules cannot be reloaded, so those loaded last stay in force: no",
        "",
    ],
)
def test_other_lines_name_no_outage(line: str) -> None:
    assert no_connection(line) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (TIMED_OUT, TIMED_OUT.replace("2 request", "31 request").replace("1.0ms", "1.7ms"), True),
        ("[thrd:a]: 3 request(s) timed out", "[thrd:b]: 4 request(s) timed out", True),
        ("1/3 brokers are down", "2/4 brokers are down", True),
        ("ERROR [rdkafka#producer-1] x", "ERROR [rdkafka#consumer-9] x", True),
        ("offset 4 is gone", "offset 5 is gone", False),
        ("topic a", "topic b", False),
    ],
)
def test_kinds_of_lines(one: str, other: str, *, same: bool) -> None:
    assert (kind_of(one) == kind_of(other)) == same


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reachable() -> set[str]:
    """The brokers that accept connections."""
    return set()


@pytest.fixture
def outages(clock: Clock, reachable: set[str]) -> Outages:
    return Outages(clock=clock, connects=reachable.__contains__, start_thread=False)


@pytest.fixture
def loggers(outages: Outages) -> Iterator[tuple[logging.Logger, logging.Logger]]:
    pair = logging.getLogger("tests.outages.a"), logging.getLogger("tests.outages.b")
    for logger in pair:
        logger.addFilter(outages)
    yield pair
    for logger in pair:
        logger.removeFilter(outages)


def _lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    lines = [message_of(record) for record in caplog.records]
    caplog.clear()
    return lines


def test_an_outage_is_one_line_then_a_count_each_minute_then_one_at_its_end(
    outages: Outages,
    loggers: tuple[logging.Logger, logging.Logger],
    clock: Clock,
    reachable: set[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    log, other = loggers
    for _ in range(10):
        log.error("%s%s", FAIL, REFUSED)
        other.warning("producer: %s", AGAIN)
    assert outages.look()
    assert _lines(caplog) == ["no connection to the Kafka broker 127.0.0.1:9: Connection refused; trying again"]
    clock.now += 59.9
    log.error(REFUSED)
    assert outages.look()
    assert _lines(caplog) == []
    clock.now += 0.1
    assert outages.look()
    assert _lines(caplog) == ["no connection to the Kafka broker 127.0.0.1:9 for 60 s (20 more attempts)"]
    clock.now += 60
    log.error(REFUSED)
    log.error(REFUSED)
    assert outages.look()
    assert _lines(caplog) == ["no connection to the Kafka broker 127.0.0.1:9 for 120 s (2 more attempts)"]
    # A line may be old: clients hand them over when they are polled.
    reachable.add("127.0.0.1:9")
    log.error(REFUSED)
    clock.now += 2.9
    assert outages.look()
    clock.now += 0.1
    assert not outages.look()
    assert _lines(caplog) == ["the Kafka broker 127.0.0.1:9 can be reached again, after 123 s (1 attempts)"]
    log.error(REFUSED)
    assert len(_lines(caplog)) == 1


def test_another_cause_and_another_broker_are_not_hidden(
    loggers: tuple[logging.Logger, logging.Logger], caplog: pytest.LogCaptureFixture
) -> None:
    for line in (REFUSED, REFUSED.replace("refused", "reset"), REFUSED.replace("0.1:9", "0.1:8"), REFUSED):
        loggers[0].error(line)
    assert _lines(caplog) == [
        "no connection to the Kafka broker 127.0.0.1:9: Connection refused; trying again",
        "no connection to the Kafka broker 127.0.0.1:9: Connection reset; trying again",
        "no connection to the Kafka broker 127.0.0.1:8: Connection refused; trying again",
    ]


def test_of_other_lines_the_first_of_each_kind_is_written_and_the_rest_counted(
    loggers: tuple[logging.Logger, logging.Logger], clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    log, other = loggers
    for logger in (log, log, other):
        logger.warning("no part in the election: %s", "x")
    log.error("no part in the election: x")
    log.warning("no part in the election: y")
    assert _lines(caplog) == ["no part in the election: x"] * 3 + ["no part in the election: y"]
    clock.now += 59.9
    log.warning("no part in the election: x")
    assert _lines(caplog) == []
    clock.now += 0.1
    log.warning("no part in the election: x")
    log.warning("no part in the election: y")
    assert _lines(caplog) == [
        "no part in the election: x (and 2 more like it since the last such line)",
        "no part in the election: y",
    ]


def test_the_kinds_that_are_remembered_are_bounded(
    outages: Outages, loggers: tuple[logging.Logger, logging.Logger], caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(2000):
        loggers[0].warning("topic-%d", number)
    assert len(_lines(caplog)) == 2000
    assert len(outages._repeats._told) == 500
