"""Each log line has an event; docs/events.md, which tests/structure/test_references.py compares, lists them all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tools.events import OTHERS, PARTS, ROOT, LogCall, calls_in, events_of, log_calls

#: Fields that all lines have, which an event must not set.
_SHARED = {"ts", "level", "logger", "msg", "node", "request_id", "trace_id", "principal", "exception", "repeats"}
_LIBRARY_EVENTS = {"server_message", "event_loop_message", "kafka_client_message", "tracing_message", "library_message"}


def places(calls: Iterable[LogCall]) -> list[str]:
    return [f"{call.file}:{call.line}" for call in calls]


def test_each_call_of_a_logger_names_its_event() -> None:
    assert len(log_calls()) > 100
    assert places([call for call in log_calls() if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", call.event)]) == []


def test_no_field_of_an_event_has_the_name_of_a_shared_one() -> None:
    assert places([call for call in log_calls() if _SHARED & set(call.fields)]) == []


def test_each_file_belongs_to_a_part_of_the_page() -> None:
    prefixes = tuple(prefix for part in PARTS.values() for prefix in part)
    assert places([call for call in log_calls() if not call.file.startswith(prefixes)]) == []


def test_the_check_knows_events_outside_of_log_calls() -> None:
    """An assignment of `event`, or a dictionary with it, outside of the calls that are read."""
    known = events_of(log_calls())
    assert {call.event for call in OTHERS} >= _LIBRARY_EVENTS
    for path in sorted(ROOT.glob("magicbyte/**/*.py")):
        text = path.read_text(encoding="utf-8")
        named = re.findall(r'"event": "(\w+)"', text) + re.findall(r'record\.event(?:, [\w.]+)* = "(\w+)"', text)
        assert set(named) <= known, path


def test_the_page_lists_the_events() -> None:
    page = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == events_of(log_calls())


def test_a_call_without_an_event_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    lines = ('log = logging.getLogger("a.b")', 'log.warning("it %s", 1)', 'self.log.info("x", extra={"event": "e_f"})')
    file.write_text("\n".join(lines))
    found = list(calls_in(file, tmp_path))
    assert [(call.event, call.level, call.logger, call.message) for call in found] == [
        ("", "warning", "a.b", "it …"),
        ("e_f", "info", "a.b", "x"),
    ]
