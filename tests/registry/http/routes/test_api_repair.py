"""POST /admin/repair: the registry repairs its own log, and nothing changes between its plan and its records."""

from __future__ import annotations

import time
from typing import get_args

import pytest

from registry.decide import decide_delete_version
from registry.http.models.repair import Code
from registry.log.port import LogEntry, Record
from registry.repair.plan import REPAIRS, decide_repair
from registry.state.view import View
from tests.registry.conftest import Api

CANONICAL = b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}'
SPACED = b'{"keytype": "SCHEMA", "subject": "a", "version": 1, "magic": 1}'
VALUE = b'{"subject":"a","version":1,"id":1,"schema":"\\"int\\"","deleted":false}'


def write(api: Api, *pairs: tuple[bytes, bytes | None]) -> None:
    """Append records as another program does."""
    records = [Record(key, value, time.time_ns() // 1_000_000) for key, value in pairs]
    api.log.append(records, api.log.end())
    # The next write of the registry reads what others have written.
    assert api("PUT", "/config/other", {"compatibility": "NONE"}).status_code == 200


def keys_after(api: Api, offset: int) -> list[tuple[bytes | None, bool]]:
    return [(entry.key, entry.value is None) for entry in api.log.read(offset)]


def test_the_codes_of_the_document_are_those_that_have_a_repair() -> None:
    assert set(get_args(Code)) == set(REPAIRS)


def test_a_key_of_two_forms_is_left_with_one(api: Api) -> None:
    write(api, (SPACED, VALUE), (CANONICAL, VALUE))
    end = api.log.end()
    dry = api("POST", "/admin/repair?dryRun=true", {})
    assert api.log.end() == end
    answer = api("POST", "/admin/repair", {})
    assert answer.json() == dry.json()
    assert [(one["code"], one["tombstone"]) for one in answer.json()["records"]] == [
        ("KEY_FORMS", False),
        ("KEY_FORMS", True),
        ("KEY_FORMS", False),
    ]
    assert answer.json()["records"][1] == {
        "code": "KEY_FORMS",
        "offsets": [0, 1],
        "key": SPACED.decode(),
        "tombstone": True,
    }
    assert keys_after(api, end)[1:] == [(SPACED, True), (CANONICAL, False)]
    assert api("GET", "/subjects/a/versions/1").json()["id"] == 1
    assert api("POST", "/admin/repair", {}).json() == {"records": [], "left": 0}
    # The registry has learned which form is left: it changes that one alone.
    end = api.log.end()
    assert api("DELETE", "/subjects/a/versions/1").json() == 1
    assert keys_after(api, end) == [(CANONICAL, False)]


def test_only_the_named_codes_are_repaired(api: Api) -> None:
    write(api, (SPACED, VALUE), (CANONICAL, VALUE), (b"hello", b"{}"))
    for codes, repaired in ((["MARK_LOW"], []), (["UNREADABLE"], ["UNREADABLE"]), ([], [])):
        records = api("POST", "/admin/repair?dryRun=true", {"codes": codes}).json()["records"]
        assert [record["code"] for record in records] == repaired
    records = api("POST", "/admin/repair", {"codes": None}).json()["records"]
    assert {record["code"] for record in records} == {"KEY_FORMS"}


_ONE_OF = "must be one of KEY_FORMS, ORPHAN_TOMBSTONE, MARK_LOW, DELETED_LIVE, UNREADABLE or FOREIGN_KEYS"


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ("KEY_FORMS", "codes must be an array, not a string"),
        ({"KEY_FORMS": True}, "codes must be an array, not an object"),
        (1, "codes must be an array, not an integer"),
        (["TOPIC"], f"codes[0] {_ONE_OF}"),
        (["MARK_LOW", "key_forms"], f"codes[1] {_ONE_OF}"),
        ([1], f"codes[0] {_ONE_OF}"),
        ([["KEY_FORMS"]], f"codes[0] {_ONE_OF}"),
    ],
)
def test_codes_that_the_registry_cannot_repair_are_refused(api: Api, codes: object, text: str) -> None:
    answer = api("POST", "/admin/repair", {"codes": codes})
    assert (answer.status_code, answer.json()) == (400, {"error_code": 400, "message": text})


def test_a_repair_is_made_in_read_only_mode(api: Api) -> None:
    write(api, (SPACED, VALUE), (CANONICAL, None))
    assert api("PUT", "/mode", {"mode": "READONLY"}).status_code == 200
    assert [one["code"] for one in api("POST", "/admin/repair", {}).json()["records"]] == ["ORPHAN_TOMBSTONE"] * 2


def test_a_write_of_the_same_batch_is_not_undone() -> None:
    # The plan is made from the log, which lacks the write before it; the values are those of the state.
    log = [LogEntry(0, SPACED, VALUE, 1), LogEntry(1, CANONICAL, VALUE, 2)]
    view = View()
    for entry in log:
        view.apply(entry)
    overlay = view.overlay()
    for record in decide_delete_version(overlay, 3, subject="a", number=1, permanent=False).records:
        overlay.apply_record(record)
    decision = decide_repair(overlay, 4, entries=lambda: log, codes=["KEY_FORMS"])
    assert decision.records == decision.result.records
    assert [(record.key, record.value is None) for record in decision.records[1:]] == [
        (SPACED, True),
        (CANONICAL, False),
    ]
    assert b'"deleted":true' in (decision.records[-1].value or b"")
