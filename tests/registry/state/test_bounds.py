"""Ids and versions are from 1 to 2^31-1 at every door: the API, imports, and the records of other writers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.cluster.lead.takeover import amends
from registry.log.memory import MemoryLog
from registry.log.port import LogEntry, Record
from registry.state.view import View

LAST = 2147483647


def schema_record(subject: str, version: int, schema_id: int, text: str = '"float"') -> Record:
    key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
    value = {"subject": subject, "version": version, "id": schema_id, "schema": text, "deleted": False}
    return Record(json.dumps(key).encode(), json.dumps(value).encode(), 0)


def other_record(keytype: str, about: dict[str, Any], value: dict[str, Any]) -> Record:
    key = {"keytype": keytype, **about, "magic": 0}
    return Record(json.dumps(key).encode(), json.dumps(value).encode(), 0)


FOREIGN = [
    (schema_record("foreign", 1, 10**18), "subject 'foreign' version 1: id 1000000000000000000 is not"),
    (schema_record("foreign", 1, LAST + 1), "subject 'foreign' version 1: id 2147483648 is not"),
    (schema_record("foreign", 1, 0), "subject 'foreign' version 1: id 0 is not"),
    (schema_record("foreign", 1, -7), "subject 'foreign' version 1: id -7 is not"),
    (schema_record("foreign", 0, 5), "subject 'foreign': version 0 is not"),
    (schema_record("foreign", LAST + 1, 5), "subject 'foreign': version 2147483648 is not"),
    (
        other_record("MAGICBYTE_ID_MARK", {"context": "."}, {"context": ".", "maxId": 10**18}),
        "context '.': maxId 1000000000000000000 is not",
    ),
    (
        other_record("DELETE_SUBJECT", {"subject": "s"}, {"subject": "s", "version": LAST + 1}),
        "subject 's': version 2147483648 is not",
    ),
]


@pytest.mark.parametrize(("record", "named"), FOREIGN, ids=[named for _, named in FOREIGN])
def test_records_out_of_bounds_are_skipped_counted_and_named(
    api: Any, caplog: pytest.LogCaptureFixture, record: Record, named: str
) -> None:
    assert api.register("s", '"int"').json()["id"] == 1
    append(api, record)
    assert api.register("t", '"long"').json()["id"] == 2
    assert api("GET", "/subjects").json() == ["s", "t"]
    (warning,) = [record.getMessage() for record in caplog.records if "skipped" in record.getMessage()]
    assert warning == f"record at offset 1 skipped (out of bounds): {named} from 1 to 2147483647"
    assert 'magicbyte_registry_records_skipped_total{reason="out of bounds"} 1.0' in api("GET", "/metrics").text


def append(api: Any, record: Record) -> None:
    """Append a record as another writer would; the node reads it when its own append conflicts."""
    log: MemoryLog = api.log
    log.append([record], log.end())


def test_the_largest_id_and_version_are_taken_from_other_writers() -> None:
    view = View()
    for offset, record in enumerate([schema_record("s", LAST, 1), schema_record("t", 1, LAST, '"int"')]):
        view.apply(LogEntry(offset, record.key, record.value, 0))
    assert [(version.number, version.schema_id) for version in (*view.versions("s"), *view.versions("t"))] == [
        (LAST, 1),
        (1, LAST),
    ]
    assert view.passed_over == {}


def test_when_the_largest_id_is_given_no_new_schema_is_taken_in_this_context(api: Any) -> None:
    api("PUT", "/mode/s", {"mode": "IMPORT"})
    assert api.register("s", '"int"', id=LAST, version=1).json()["id"] == LAST
    refused = api.register("t", '"long"')
    assert (refused.status_code, refused.json()) == (
        422,
        {
            "error_code": 42230,
            "message": "Context '.' has no schema id left: 2147483647, the largest one, has been given. "
            "Register the schema in another context.",
        },
    )
    assert api.register("t", '"int"').json()["id"] == LAST
    assert api.register(":.other:t", '"long"').json()["id"] == 1


def test_when_the_largest_version_is_given_no_other_is_taken_in_this_subject(api: Any) -> None:
    api("PUT", "/mode/s", {"mode": "IMPORT"})
    assert api.register("s", '"int"', id=1, version=LAST).json()["version"] == LAST
    api("PUT", "/mode/s", {"mode": "READWRITE"})
    refused = api.register("s", '"long"')
    assert (refused.status_code, refused.json()) == (
        422,
        {
            "error_code": 42231,
            "message": "Subject 's' has no version left: 2147483647, the largest one, has been given. "
            "Register the schema under another subject.",
        },
    )
    assert api.register("t", '"long"').json()["id"] == 2


def test_the_id_0_is_no_id(api: Any) -> None:
    api("PUT", "/mode/s", {"mode": "IMPORT"})
    refused = api.register("s", '"int"', id=0, version=1)
    assert (refused.status_code, refused.json()) == (
        400,
        {"error_code": 400, "message": "id is out of range: 0; ids are from 1 to 2147483647"},
    )


LINES = [
    ({"version": 1, "id": 0}, "a schema needs an id from 1 to 2147483647, not 0"),
    ({"version": 1, "id": LAST + 1}, "a schema needs an id from 1 to 2147483647, not 2147483648"),
    ({"version": LAST + 1, "id": 1}, "a schema needs a version from 1 to 2147483647, not 2147483648"),
    ({"version": True, "id": 1}, "a schema needs a version from 1 to 2147483647, not True"),
]


@pytest.mark.parametrize(("fields", "refusal"), LINES)
def test_a_line_out_of_bounds_is_refused(api: Any, fields: dict[str, Any], refusal: str) -> None:
    line = {"subject": "s", "schema": '"int"', **fields}
    report = api.client.post("/import?lines=true", content=json.dumps(line)).json()
    assert report == {"imported": {}, "known": 0, "refused": [{"line": 1, "message": refusal}]}


def test_a_new_leader_marks_no_id_that_is_out_of_bounds() -> None:
    aborted = [schema_record("s", 1, 10**18), schema_record("s", 2, 9), schema_record("s", 3, -1)]
    written = amends(View(), (LogEntry(offset, each.key, each.value, 0) for offset, each in enumerate(aborted)), 5)
    marks = [record.value for record in written if b"MAGICBYTE_ID_MARK" in record.key]
    assert marks == [b'{"context":".","maxId":9}']


def test_ids_are_given_after_the_largest_that_is_in_bounds(make_api: Callable[..., Any]) -> None:
    api = make_api()
    for record in (schema_record("a", 1, 7), schema_record("b", 1, 10**18, '"bytes"')):
        append(api, record)
    assert api.register("s", '"int"').json()["id"] == 8
