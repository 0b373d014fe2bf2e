"""The same warning is told once a minute, with a count."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from magicbyte.kit.logs.formats import message_of
from magicbyte.kit.logs.repeats import OccasionalWarning, RepeatedWarnings, Repeats


class Written(logging.Handler):
    """Keeps the messages that pass a filter, at a clock that the test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.lines: list[str] = []
        self.filter_ = RepeatedWarnings(self.emit, clock=lambda: self.now, start_timer=False)
        self.addFilter(self.filter_)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{getattr(record, 'event', None)} {message_of(record)}")

    def taken(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines


@pytest.fixture
def written() -> Written:
    return Written()


@pytest.fixture
def log(written: Written) -> Iterator[logging.Logger]:
    logger = logging.getLogger("tests.repeats")
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    logger.addHandler(written)
    yield logger
    logger.removeHandler(written)


MORE = "(and {} more like it since the last such line)"


def test_the_next_warning_shows_the_count_of_its_repeats(log: logging.Logger, written: Written) -> None:
    for _ in range(3):
        log.warning("lost %s", "a", extra={"event": "lost"})
    log.warning("lost %s", "b", extra={"event": "lost"})
    log.error("lost %s", "a", extra={"event": "lost"})
    assert written.taken() == ["lost lost a", "lost lost b", "lost lost a"]
    written.now += 59.9
    log.warning("lost %s", "a", extra={"event": "lost"})
    assert written.taken() == []
    written.now += 0.1
    log.warning("lost %s", "a", extra={"event": "lost"})
    assert written.taken() == [f"lost lost a {MORE.format(3)}"]


def test_the_log_shows_a_count_after_a_minute_without_a_repeat(log: logging.Logger, written: Written) -> None:
    for _ in range(3):
        log.warning("lost", extra={"event": "lost"})
    written.taken()
    written.now += 59.9
    written.filter_.repeats.look()
    assert written.taken() == []
    written.now += 0.1
    written.filter_.repeats.look()
    written.filter_.repeats.look()
    assert written.taken() == [f"lost lost {MORE.format(2)}"]
    # The minute begins again.
    written.now += 59.9
    log.warning("lost", extra={"event": "lost"})
    assert written.taken() == []


def test_a_process_logs_its_counts_at_its_end(log: logging.Logger, written: Written) -> None:
    for _ in range(2):
        log.warning("lost")
    written.taken()
    written.filter_.repeats.look(at_end=True)
    assert written.taken() == [f"None lost {MORE.format(1)}"]


def _raised(error: Exception) -> logging.LogRecord:
    try:
        raise error  # noqa: TRY301
    except Exception:  # noqa: BLE001
        return logging.LogRecord("tests.repeats", logging.ERROR, "", 0, "failed", (), sys.exc_info())


def _raised_elsewhere(error: Exception) -> logging.LogRecord:
    try:
        raise error  # noqa: TRY301
    except Exception:  # noqa: BLE001
        return logging.LogRecord("tests.repeats", logging.ERROR, "", 0, "failed", (), sys.exc_info())


@pytest.mark.parametrize(
    ("make", "are_written"),
    [
        (lambda: [_raised(OSError()), _raised(OSError())], [True, False]),
        (lambda: [_raised(OSError()), _raised(ValueError())], [True, True]),
        (lambda: [_raised(OSError()), _raised_elsewhere(OSError())], [True, True]),
    ],
    ids=["the same", "another type", "another place"],
)
def test_errors_of_another_type_or_place_are_other_lines(
    written: Written, make: Callable[[], list[logging.LogRecord]], are_written: list[bool]
) -> None:
    assert [written.filter_.filter(record) for record in make()] == are_written


@pytest.mark.parametrize(("name", "level"), [("tests.repeats", logging.INFO), ("magicbyte.access", logging.WARNING)])
def test_lines_that_repeat_for_a_reason_are_all_written(written: Written, name: str, level: int) -> None:
    for _ in range(3):
        assert written.filter_.filter(logging.LogRecord(name, level, "", 0, "x", (), None))


def test_a_timer_tells_the_count() -> None:
    told: list[tuple[str, int]] = []
    is_told = threading.Event()

    def tell(thing: str, count: int) -> None:
        told.append((thing, count))
        is_told.set()

    now = 0.0
    repeats: Repeats[str] = Repeats(tell, seconds=0.05, clock=lambda: now)
    assert [repeats.unwritten("a") for _ in range(3)] == [0, None, None]
    now = 0.05
    assert is_told.wait(30)
    assert told == [("a", 2)]


def test_an_occasional_warning_shows_its_count_with_its_last_values(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    warn = OccasionalWarning(
        logging.getLogger("magicbyte.test"), "seen", "%s was seen", clock=lambda: now, start_timer=False
    )
    for name in ("a", "b", "c"):
        warn(name, address=name)
    now += 60
    warn.look()
    assert [(message_of(record), vars(record)["event"], vars(record)["address"]) for record in caplog.records] == [
        ("a was seen", "seen", "a"),
        (f"c was seen {MORE.format(2)}", "seen", "c"),
    ]
