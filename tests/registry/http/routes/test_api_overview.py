"""GET /overview: a row for each subject, as columns."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from magicbyte.http.representation import accepts_gzip, is_current
from registry.feed.kept_bodies import KeptBodies
from registry.log.port import Record
from registry.state import records
from registry.state.model import Version
from registry.state.records import Key

ENUM = '{"type":"enum","name":"E","symbols":["A"]}'
USER = '{"type":"record","name":"U","fields":[{"name":"e","type":"E"}]}'


@pytest.fixture
def shop(api: Any) -> Any:
    api.register("colours", ENUM)
    api.register("users", USER, references=[{"name": "E", "subject": "colours", "version": 1}])
    api.register("users", '{"type":"record","name":"U","fields":[]}')
    api.register("users", '{"type":"record","name":"U","fields":[],"doc":"three"}')
    api("DELETE", "/subjects/users/versions/1")
    api("DELETE", "/subjects/users/versions/3")
    api.register(":.eu:invoices", '{"type":"object"}', schemaType="JSON")
    api.register("gone", '"int"')
    api("DELETE", "/subjects/gone")
    api("PUT", "/config/users", {"compatibility": "FULL"})
    api("PUT", "/config/:.eu:", {"compatibility": "NONE"})
    api("PUT", "/mode/colours", {"mode": "READONLY"})
    return api


def overview(api: Any, query: str = "") -> dict[str, Any]:
    answered = api("GET", f"/overview{query}")
    assert answered.status_code == 200
    told: dict[str, Any] = answered.json()
    return told


def test_a_row_tells_of_the_latest_version_and_the_settings(shop: Any) -> None:
    told = overview(shop, "?deleted=true")
    times = {version["subject"]: version["ts"] for version in shop("GET", "/schemas?subjectPrefix=:*:").json()}
    gone = shop("GET", "/subjects/gone/versions/1?deleted=true").json()
    assert told == {
        "offset": shop("GET", "/health/ready").json()["offset"],
        "total": 4,
        "subject": [":.eu:invoices", "colours", "gone", "users"],
        "type": ["JSON", "AVRO", "AVRO", "AVRO"],
        "version": [1, 1, 1, 2],
        "versions": [1, 1, 0, 1],
        "deletedVersions": [0, 0, 1, 2],
        "id": [1, 1, gone["id"], 3],
        "ts": [times[":.eu:invoices"], times["colours"], gone["ts"], times["users"]],
        "level": ["NONE", "BACKWARD", "BACKWARD", "FULL"],
        "ownLevel": [False, False, False, True],
        "mode": ["READWRITE", "READONLY", "READWRITE", "READWRITE"],
        "ownMode": [False, True, False, False],
        "deleted": [False, False, True, False],
        "references": [0, 0, 0, 0],
    }
    shop("POST", "/subjects/users/versions/1/undelete")
    shop("DELETE", "/subjects/users/versions/2")
    assert overview(shop, "?subjectPrefix=users")["references"] == [1]


SELECTIONS = [
    ("/overview", [":.eu:invoices", "colours", "users"], 3),
    ("/overview?deleted=true", [":.eu:invoices", "colours", "gone", "users"], 4),
    ("/overview?subjectPrefix=:.:", ["colours", "users"], 2),
    ("/overview?subjectPrefix=c", ["colours"], 1),
    ("/overview?subjectPrefix=:*:i", [":.eu:invoices"], 1),
    ("/overview?subjectPrefix=none", [], 0),
    ("/contexts/eu/overview", [":.eu:invoices"], 1),
    ("/contexts/.eu/overview?subjectPrefix=x", [], 0),
    ("/overview?offset=1&limit=1", ["colours"], 3),
    ("/overview?offset=2", ["users"], 3),
    ("/overview?offset=9", [], 3),
    ("/overview?limit=2&deleted=false", [":.eu:invoices", "colours"], 3),
]


@pytest.mark.parametrize(("path", "subjects", "total"), SELECTIONS)
def test_rows_are_selected(shop: Any, path: str, subjects: list[str], total: int) -> None:
    told = shop("GET", path).json()
    assert (told["subject"], told["total"]) == (subjects, total)
    assert {len(column) for column in told.values() if isinstance(column, list)} == {len(subjects)}


HEADS = [
    (
        "/overview?deleted=true&head=1",
        ["colours"],
        {"subjects": 2, "deleted": 1, "versions": 2, "ownLevel": 1, "types": {"AVRO": 2}},
    ),
    (
        "/overview?head=9",
        ["colours", "users"],
        {"subjects": 2, "deleted": 0, "versions": 2, "ownLevel": 1, "types": {"AVRO": 2}},
    ),
    (
        "/contexts/.eu/overview?head=9",
        [":.eu:invoices"],
        {"subjects": 1, "deleted": 0, "versions": 1, "ownLevel": 0, "types": {"JSON": 1}},
    ),
    (
        "/overview?subjectPrefix=none&head=9",
        [],
        {"subjects": 0, "deleted": 0, "versions": 0, "ownLevel": 0, "types": {}},
    ),
]


@pytest.mark.parametrize(("path", "subjects", "counts"), HEADS)
def test_a_head_has_the_first_rows_of_the_context_and_its_counts(
    shop: Any, path: str, subjects: list[str], counts: dict[str, Any]
) -> None:
    answered = shop("GET", path)
    assert answered.headers["content-type"] == "application/x-ndjson"
    head, whole = map(json.loads, answered.text.splitlines())
    assert whole == shop("GET", path.replace("head", "ignored")).json()
    assert head.pop("counts") == counts
    assert head["subject"] == subjects
    # Its rows are those of the overview.
    places = [whole["subject"].index(subject) for subject in subjects]
    assert head == {
        name: [column[place] for place in places] if isinstance(column, list) else column
        for name, column in whole.items()
    }


REFUSED = [
    ("head=-1", "head must be a number from 0 to 1000, not '-1'"),
    ("head=1001", "head must be a number from 0 to 1000, not '1001'"),
    ("offset=-1", "offset must be a number from 0 to 2147483647, not '-1'"),
    ("offset=x", "offset must be a number from 0 to 2147483647, not 'x'"),
    ("limit=0", "limit must be a number from 1 to 100000, not '0'"),
    ("limit=100001", "limit must be a number from 1 to 100000, not '100001'"),
    ("limit=1.5", "limit must be a number from 1 to 100000, not '1.5'"),
]


@pytest.mark.parametrize(("query", "message"), REFUSED)
def test_a_parameter_that_is_refused(api: Any, query: str, message: str) -> None:
    answered = api("GET", f"/overview?{query}")
    assert (answered.status_code, answered.json()) == (400, {"error_code": 400, "message": message})


def test_the_server_does_not_send_a_current_overview_again(shop: Any) -> None:
    first = shop("GET", "/overview")
    etag = first.headers["etag"]
    offset = first.json()["offset"]
    assert etag.startswith('W/"')
    assert etag.endswith(f':{offset}:BACKWARD"')
    assert first.headers["cache-control"] == "private, no-cache"
    for named in (etag, etag.removeprefix("W/"), f'"other", {etag}', "*"):
        again = shop("GET", "/overview", headers={"If-None-Match": named})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    shop.register("new", '"int"')
    changed = shop("GET", "/overview", headers={"If-None-Match": etag})
    assert changed.status_code == 200
    assert changed.json()["offset"] > offset
    assert changed.json()["subject"] == [":.eu:invoices", "colours", "new", "users"]
    assert shop("HEAD", "/overview").headers["etag"] == changed.headers["etag"]


def test_an_overview_is_compressed_for_clients_that_accept_it(shop: Any) -> None:
    plain = shop("GET", "/overview", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    compressed = shop("GET", "/overview", headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.headers["vary"] == "accept-encoding, authorization"
    assert compressed.json() == plain.json()
    # The client undoes the compression, so look at the bytes that were sent.
    assert int(compressed.headers["content-length"]) == len(gzip.compress(plain.content, 5, mtime=0))


def test_a_version_without_a_time_has_none(api: Any) -> None:
    version = Version("old", 1, 1, '"int"', deleted=False, timestamp=0)
    api.client.app.state.registry.node.view.apply_record(records.version_record(_key("old"), version))
    assert overview(api)["ts"] == [None]


def _key(subject: str) -> bytes:
    return records.encode_key(Key(records.SCHEMA, subject, 1))


@pytest.mark.slow
def test_20_000_subjects_take_one_request(api: Any) -> None:
    view = api.client.app.state.registry.node.view
    for number in range(20_005):
        value = b'{"subject":"s%d","version":1,"id":%d,"schema":"\\"int\\"","deleted":false}' % (number, 1)
        view.apply_record(Record(_key(f"s{number}"), value, 1_700_000_000_000))
    answered = api("GET", "/overview", headers={"Accept-Encoding": "gzip"})
    told = answered.json()
    assert (told["total"], len(told["subject"]), told["subject"][0]) == (20_005, 20_005, "s0")
    assert int(answered.headers["content-length"]) < 200_000


SEEN = [
    ("admin", ["open.a", "sealed.a"], [1, 1], ["BACKWARD", "BACKWARD"]),
    ("reader", ["open.a"], [1], ["BACKWARD"]),
    ("lister", ["open.a", "sealed.a"], [None, None], [None, "BACKWARD"]),
    ("nobody", [], [], []),
]


@pytest.fixture
def two_subjects(guarded: Any) -> Any:
    for subject in ("open.a", "sealed.a"):
        assert guarded("admin", f"/subjects/{subject}/versions", {"schema": '"int"'}).status == 200
    return guarded


def test_an_overview_has_only_visible_rows_and_columns(two_subjects: Any) -> None:
    assert two_subjects("", "/overview").status == 401
    for name, subjects, ids, levels in SEEN:
        answered = two_subjects(name, "/overview")
        told = json.loads(answered.body)
        assert (told["subject"], told["id"], told["level"]) == (subjects, ids, levels), name
        assert [kind is None for kind in told["type"]] == [schema_id is None for schema_id in ids]
        assert [time is None for time in told["ts"]] == [schema_id is None for schema_id in ids]
        assert [own is None for own in told["ownMode"]] == [level is None for level in levels]
        assert answered.headers["cache-control"] == "private, no-cache"


def test_a_head_has_only_visible_rows(two_subjects: Any) -> None:
    def counts(name: str) -> Any:
        return json.loads(two_subjects(name, "/overview?head=9").body.splitlines()[0])["counts"]

    assert counts("reader") == {"subjects": 1, "deleted": 0, "versions": 1, "ownLevel": 0, "types": {"AVRO": 1}}
    assert counts("lister") == {"subjects": 2, "deleted": 0, "versions": 2, "ownLevel": 0, "types": {}}


def test_an_etag_is_current_only_for_the_same_rights(two_subjects: Any) -> None:
    people = [name for name, *_ in SEEN]
    etags = {name: two_subjects(name, "/overview").headers["etag"] for name in people}
    assert len(set(etags.values())) == len(people)

    def ask(name: str, etag: str) -> Any:
        return two_subjects(name, "/overview", headers=[("if-none-match", etag)])

    for name in people:
        statuses = {other: ask(name, etag).status for other, etag in etags.items()}
        assert statuses == {other: 304 if other == name else 200 for other in people}
    two_subjects.replace_rules("allow User:reader READ SUBJECT PREFIXED sealed.\n")
    changed = ask("reader", etags["reader"])
    assert (changed.status, json.loads(changed.body)["subject"]) == (200, ["sealed.a"])


def test_kept_bodies_are_bounded() -> None:
    bodies = KeptBodies(most_bytes=800)
    made: list[int] = []

    def make(number: int) -> Callable[[], bytes]:
        def body() -> bytes:
            made.append(number)
            return b"%d" % number * 300

        return body

    for number in (1, 2, 1, 3, 1, 2):
        assert bodies.make(number, make(number)).plain == b"%d" % number * 300
    assert made == [1, 2, 3, 2]
    assert bodies.make(4, lambda: b"x" * 2000).plain == b"x" * 2000
    assert bodies.get(4) is None


def test_headers_decide_about_304_and_gzip() -> None:
    current = {None: False, "": False, '"a"': True, 'W/"a"': True, '"b", W/"a"': True, '"b"': False, "*": True}
    assert {value: is_current(value, 'W/"a"') for value in current} == current
    accepted = {
        None: False,
        "": False,
        "gzip": True,
        "br, GZIP ; q=0.1": True,
        "gzip;q=0": False,
        "gzip;q=0.000": False,
        "*": True,
        "*;q=0": False,
        "*, gzip;q=0": False,
        "identity": False,
        "deflate, gzip, br, zstd": True,
    }
    assert {value: accepts_gzip(value) for value in accepted} == accepted
