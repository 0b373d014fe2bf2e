"""Searches of topics by `POST /ui/messages`, with a real broker."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from tests.ui.kit.scanned import Searched, searched

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "customer", "type": {"type": "record", "name": "Customer", "fields": [{"name": "id", "type": "int"}]}},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}


@pytest.fixture(scope="module")
def page(kafka: str) -> Iterator[Searched]:
    with searched(kafka) as running:
        yield running


@pytest.fixture(scope="module")
def merged(page: Searched) -> str:
    """Ten records: record n has the time n + 1 seconds and is in partition n % 3; partition 3 is empty."""
    topic = page.topic(4)
    page.produce(topic, [{"value": f"v{n}", "partition": n % 3, "timestamp": n * 1000 + 1000} for n in range(10)])
    return topic


NEWEST_FIRST = ["0:3", "2:2", "1:2", "0:2", "2:1", "1:1", "0:1", "2:0", "1:0", "0:0"]


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        ({}, NEWEST_FIRST),
        ({"order": "oldest"}, NEWEST_FIRST[::-1]),
        ({"limit": 3}, NEWEST_FIRST[:3]),
        ({"partitions": [1]}, ["1:2", "1:1", "1:0"]),
        ({"since": 4000}, NEWEST_FIRST[:7]),
        ({"until": 4000}, NEWEST_FIRST[7:]),
        ({"since": 3000, "until": 6000, "order": "oldest"}, ["2:0", "0:1", "1:1"]),
        ({"offset": 1}, NEWEST_FIRST[4:]),
        ({"offset": 1, "order": "oldest", "partitions": [0]}, ["0:1", "0:2", "0:3"]),
        ({"offset": 99, "order": "oldest"}, []),
    ],
)
def test_partitions_are_merged_by_time(page: Searched, merged: str, wanted: dict[str, Any], places: list[str]) -> None:
    assert page.search(merged, **wanted).places == places


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_follow_each_other_without_gaps_and_doubles(page: Searched, merged: str, order: str, limit: int) -> None:
    places, cursor = list[str](), None
    for _ in range(12):
        found = page.search(merged, order=order, limit=limit, cursor=cursor)
        places += found.places
        cursor = found.end["cursor"]
        if found.end["reason"] == "end":
            break
    assert found.end["reason"] == "end"
    assert places == (NEWEST_FIRST if order == "newest" else NEWEST_FIRST[::-1])


def test_a_cursor_of_the_oldest_goes_on_with_what_comes_later(page: Searched) -> None:
    topic = page.topic(2)
    page.produce(topic, [{"value": "first"}])
    end = page.search(topic, order="oldest").end
    assert (end["reason"], end["cursor"]) == ("end", "0:1,1:0")
    page.produce(topic, [{"value": "second", "partition": 1}])
    found = page.search(topic, order="oldest", cursor=end["cursor"])
    assert (found.places, found.end["cursor"]) == (["1:0"], "0:1,1:1")


def test_what_a_search_begins_with_and_ends_with(page: Searched, merged: str) -> None:
    found = page.search(merged, limit=4)
    assert found.begin == {"partitions": {"0": [0, 4], "1": [0, 3], "2": [0, 3], "3": [0, 0]}, "total": 10}
    assert found.end == {"reason": "limit", "scanned": 4, "bytes": 16, "matched": 4, "cursor": "0:2,1:2,2:2,3:0"}


@pytest.fixture(scope="module")
def orders(page: Searched) -> str:
    topic = page.topic()
    schema_id = page.register(f"{topic}-value", ORDER)
    values = [{"id": n, "customer": {"id": n % 3}, "note": None if n % 2 else f"Note {n}"} for n in range(6)]
    messages = page.encode(schema_id, *values)
    records: list[dict[str, Any]] = [{"key": f"k{n}", "value": message} for n, message in enumerate(messages)]
    records += [
        {"key": "tombstone", "value": None},
        {"value": b'{"plain": {"price": "12.50"}}', "headers": [("trace", b"Abc"), ("empty", None)]},
        {"value": b"\0\0\0\xff\xff!", "headers": [("trace", b"xyz")]},
    ]
    page.produce(topic, records)
    return topic


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("value.customer.id = 1", [1, 4]),
        ("value.customer.id=1 value.id>1", [4]),
        ("value.id >= 4", [4, 5]),
        ("value.note = null", [1, 3, 5]),
        ('value.note = "Note 2"', [2]),
        ("value.note ~ note", [0, 2, 4]),
        ("value.id != 0", [1, 2, 3, 4, 5]),
        ("value = null", [6]),
        ("value.plain.price = 12.5", [7]),
        ("key:k3", [3]),
        ("key = k3", [3]),
        ("note", [0, 1, 2, 3, 4, 5]),
        ('"note 4"', [4]),
        ("header:trace", [7, 8]),
        ("header:trace=abc", [7]),
        ("xyz", [8]),
        ("absent", []),
    ],
)
def test_filters(page: Searched, orders: str, text: str, offsets: list[int]) -> None:
    found = page.search(orders, order="oldest", filter=text)
    assert [record["offset"] for record in found.records] == offsets
    assert (found.end["reason"], found.end["scanned"]) == ("end", 9)


def test_a_filter_by_schema_id(page: Searched, orders: str) -> None:
    schema_id = page.search(orders, order="oldest", limit=1).records[0]["decoded"]["value"]["schemaId"]
    assert len(page.search(orders, filter=f"id:{schema_id}").records) == 6
    assert page.search(orders, filter="id:424242").records == []


def test_a_record_as_it_is_shown(page: Searched, orders: str) -> None:
    record = page.search(orders, filter="value.id = 4").records[0]
    decoded = record["decoded"]
    assert decoded["value"]["value"] == {"id": 4, "customer": {"id": 1}, "note": "Note 4"}
    assert (decoded["value"]["subject"], decoded["value"]["version"]) == (f"{orders}-value", 1)
    assert decoded["key"]["reason"] == "magic"
    assert (record["key"], record["keySize"], record["cut"]) == ("azQ=", 2, False)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("long", [258, "a long has 8 bytes; this has 4"]),
        ("int", ["an int has 4 bytes; this has 8", 1633771873]),
        ("text", ["\0\0\0\0\0\0\1\2", "aaaa"]),
        ("hex", ["0000000000000102", "61616161"]),
        ("uuid", [f"a UUID has 16 bytes, or is written as text; this has {size} bytes" for size in (8, 4)]),
    ],
)
def test_keys_and_values_are_read_as_a_kind(page: Searched, kind: str, shown: list[Any]) -> None:
    topic = page.topic()
    page.produce(topic, [{"key": struct.pack(">q", 258), "value": b"x"}, {"key": b"aaaa", "value": b"x"}])
    keys = [record["decoded"]["key"] for record in page.search(topic, order="oldest", keyAs=kind).records]
    assert [key.get("value", key.get("error")) for key in keys] == shown
    assert all(key["reason"] == "kind" for key in keys if "error" in key)


def test_values_are_read_as_payloads_of_a_schema(page: Searched) -> None:
    topic = page.topic()
    schema_id = page.register(f"{topic}-other", ORDER)
    payload = page.encode(schema_id, {"id": 7, "customer": {"id": 2}, "note": None})[0][5:]
    page.produce(topic, [{"value": payload}, {"value": b"\xff"}])
    good, bad = page.search(topic, order="oldest", valueAs=f"schema:{schema_id}").records
    assert good["decoded"]["value"]["value"] == {"id": 7, "customer": {"id": 2}, "note": None}
    assert bad["decoded"]["value"]["reason"] == "payload"
    found = page.search(topic, valueAs=f"schema:{schema_id}", filter="value.customer.id = 2")
    assert found.places == ["0:0"]


def test_large_messages_are_cut_several_to_a_page(page: Searched) -> None:
    topic = page.topic(**{"max.message.bytes": str(4 << 20)})
    text = '{"n": %d, "text": "' + "é" * 500_000 + '"}'
    page.produce(topic, [{"value": text % n} for n in range(12)], **{"message.max.bytes": 4 << 20})
    with page.client() as http:
        answer = http.post("/ui/messages", json={"topic": topic})
    assert len(answer.content) < 200_000
    found = page.search(topic, valueAs="json")
    assert found.places == [f"0:{n}" for n in range(11, -1, -1)]
    record = found.records[0]
    assert (record["cut"], record["valueSize"], len(base64.b64decode(record["value"]))) == (True, 1_000_021, 4_095)
    assert record["decoded"]["value"]["size"] == 1_000_021
    assert record["decoded"]["value"]["preview"].startswith('{"n": 11, "text": "éé')
    whole = page.search(topic, partitions=[0], offset=11, limit=1, whole=True, valueAs="json").records[0]
    assert (whole["cut"], len(base64.b64decode(whole["value"]))) == (False, 1_000_021)
    assert len(whole["decoded"]["value"]["value"]["text"]) == 500_000


@pytest.mark.parametrize(
    ("wanted", "status", "text"),
    [
        ({"filter": 'a "b'}, 400, "filter: it cannot be read from '\"b' on: a quotation mark is not closed"),
        ({"filter": "price = 5"}, 400, "= needs a field before it and a value behind it, such as value.id = 7"),
        ({"filter": "id:x"}, 400, "filter: id:x must have a number between 0 and 2147483647"),
        ({"keyAs": "longs"}, 400, "keyAs: 'longs' is no kind; use message, int, long,"),
        ({"order": "up"}, 400, "order must be newest or oldest, not 'up'"),
        ({"limit": 501}, 400, "limit must be between 1 and 500, not 501"),
        ({"cursor": "0"}, 400, "cursor must be that of an answer, such as 0:42,1:17"),
        ({"since": -1}, 400, "since must be between 0 and"),
        ({"partitions": [9]}, 404, "The topic has no partition 9"),
        ({"topic": None}, 400, "topic is needed"),
        ({"topic": "never-made"}, 404, "This server does not host this topic-partition."),
    ],
)
def test_a_bad_request_is_refused(page: Searched, merged: str, wanted: dict[str, Any], status: int, text: str) -> None:
    with page.client() as http:
        answer = http.post("/ui/messages", json={"topic": merged, **wanted})
    assert answer.status_code == status
    assert text in answer.json()["message"]
