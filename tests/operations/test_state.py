"""The logical state of a registry: what an export and a log tell of it is the same, and it survives a round trip."""

from __future__ import annotations

import pytest

from magicbyte.kit.failure import Failure
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.state import ContextState, State

_LINES = [
    {"kind": "context", "context": ".", "listed": True, "maxId": 9},
    {"kind": "context", "context": ".eu", "listed": True, "maxId": 1},
    {"kind": "schema", "subject": "a", "version": 2, "id": 7, "schema": '"int"', "deleted": True, "ts": 5},
    {
        "kind": "schema",
        "subject": ":.eu:a",
        "version": 1,
        "id": 1,
        "schemaType": "JSON",
        "schema": "{}",
        "references": [{"name": "r", "subject": "a", "version": 2}],
        "deleted": False,
        "ts": 6,
    },
    {"kind": "config", "subject": "a", "config": {"compatibilityLevel": "FULL"}},
    {"kind": "config", "config": {"compatibilityLevel": "NONE"}},
    {"kind": "mode", "subject": "a", "mode": "READONLY"},
    {"kind": "mode", "mode": "IMPORT"},
]


def test_lines_become_a_state_and_lines_again() -> None:
    state = State.of_lines(_LINES)
    assert state.contexts == {
        ".": ContextState(listed=True, highest_id=9),
        ".eu": ContextState(listed=True, highest_id=1),
    }
    assert {key: (one.schema_id, one.deleted, one.timestamp) for key, one in state.versions.items()} == {
        ("a", 2): (7, True, 5),
        (":.eu:a", 1): (1, False, 6),
    }
    assert state.modes == {"a": "READONLY", None: "IMPORT"}
    lines = list(state.lines())
    assert [line["kind"] for line in lines] == [*["context"] * 2, *["schema"] * 2, *["config"] * 2, *["mode"] * 2]
    assert "subject" not in lines[-1], "the global mode comes last"
    assert State.of_lines(lines) == state


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ({"kind": "schema", "subject": "a", "version": 1, "schema": "{}"}, "line 1 is no schema"),
        ({"kind": "context", "context": "."}, "line 1 is no context"),
        ({"kind": "config", "subject": "a"}, "line 1 is no config"),
    ],
)
def test_the_error_names_an_incomplete_line(line: dict[str, object], fault: str) -> None:
    with pytest.raises(Failure, match=fault):
        State.of_lines([line])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("nowhere.ndjson", Failure, "there is no file nowhere.ndjson"),
        ("postgres://u:s3cret@h/db", Failure, r"there is no file postgres://\[hidden\]@h/db; .* write postgresql:"),
        ("sqlite:///nowhere/registry.db", Failure, "there is no database"),
        ("kafka:", Failure, "names no broker"),
        ("http://127.0.0.1:1", Unreachable, "http://127.0.0.1:1"),
        ("kafka:127.0.0.1:1", Unreachable, "no Kafka broker answers at 127.0.0.1:1"),
    ],
)
def test_the_error_names_a_missing_source(name: str, error: type[Failure], text: str) -> None:
    properties = Properties({"max.retries": "0", "timeout": "1"})
    with pytest.raises(error, match=text), open_source(name, properties) as source:
        source.read()
