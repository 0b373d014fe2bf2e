"""GET /search?q=: words in names, fields and texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.feed.name_search import NameIndex, Query, text_key
from registry.feed.word_search import PLACES, WordQuery, scan_words
from registry.offload.jobs import Listing
from registry.offload.perform import find_names
from registry.state import records
from registry.state.model import Version
from registry.state.records import Key
from registry.state.view import View

ORDER = (
    '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"},'
    '{"name":"buyer","type":{"type":"record","name":"Buyer","doc":"Who pays the Total","fields":'
    '[{"name":"email","type":"string","confluent:tags":["PII"]}]}}]}'
)
INVOICE = '{"type":"object","title":"Invoice","properties":{"email":{"type":"string"},"total":{"type":"number"}}}'
PARCEL = 'syntax = "proto3";\npackage shop;\n\nmessage Parcel {\n  string buyer_email = 1;\n}\n'


@pytest.fixture
def shop(api: Any) -> Any:
    api.register("orders-value", ORDER)
    api.register(":.eu:invoices-value", INVOICE, schemaType="JSON", metadata={"properties": {"owner": "finance"}})
    api.register("parcels-value", PARCEL, schemaType="PROTOBUF")
    api.register("old-order", '"int"')
    api("DELETE", "/subjects/old-order")
    return api


def search(api: Any, query: str) -> dict[str, Any]:
    answered = api("GET", f"/search?{query}")
    assert answered.status_code == 200, answered.text
    told: dict[str, Any] = answered.json()
    return told


INVOICES, ORDERS, PARCELS = ":.eu:invoices-value", "orders-value", "parcels-value"
# query, (subject, places) of the hits, counts
FOUND: list[tuple[str, list[tuple[str, list[str]]], dict[str, int]]] = [
    ("q=orders", [(ORDERS, ["name"])], {"name": 1, "field": 0, "text": 0}),
    ("q=ORDER", [(ORDERS, ["name", "text"])], {"name": 1, "field": 0, "text": 1}),
    ("q=shop.order&in=name", [(ORDERS, ["name"])], {"name": 1}),
    ("q=value+shop&in=name", [(ORDERS, ["name"]), (PARCELS, ["name"])], {"name": 2}),
    ("q=order&deleted=true&in=name", [("old-order", ["name"]), (ORDERS, ["name"])], {"name": 2}),
    (
        "q=email",
        [(INVOICES, ["field", "text"]), (ORDERS, ["field", "text"]), (PARCELS, ["field", "text"])],
        {"name": 0, "field": 3, "text": 3},
    ),
    ("q=buyer+email&in=field", [(PARCELS, ["field"])], {"field": 1}),
    ("q=buyer+email&in=field,text", [(ORDERS, ["text"]), (PARCELS, ["field", "text"])], {"field": 1, "text": 2}),
    ("q=buyer.email&in=field", [(ORDERS, ["field"])], {"field": 1}),
    ("q=total&in=text,field", [(INVOICES, ["field", "text"]), (ORDERS, ["text"])], {"field": 1, "text": 2}),
    ("q=email&in=field&type=json", [(INVOICES, ["field"])], {"field": 1}),
    ("q=email&in=field&tag=PII", [(ORDERS, ["field"])], {"field": 1}),
    ("q=email&in=text&property=owner", [(INVOICES, ["text"])], {"text": 1}),
    ("q=email&in=text&field=total", [(INVOICES, ["text"])], {"text": 1}),
    ("q=email&subjectPrefix=o&in=text", [(ORDERS, ["text"])], {"text": 1}),
    ("q=namespace&in=field", [], {"field": 0}),
    ("q=nothing+of+this", [], {"name": 0, "field": 0, "text": 0}),
    ("q=email%5B&in=text", [], {"text": 0}),
]


@pytest.mark.parametrize(("query", "hits", "counts"), FOUND)
def test_the_search_finds_words_in_names_fields_and_texts(
    shop: Any, query: str, hits: list[tuple[str, list[str]]], counts: dict[str, int]
) -> None:
    # The second search has the names that the first one has read.
    for _ in range(2):
        told = search(shop, query)
        assert [(hit["subject"], hit["in"]) for hit in told["hits"]] == hits
        assert (told["in"], told["total"]) == (counts, len(hits))


def test_a_hit_tells_its_place(shop: Any) -> None:
    invoice, order, parcel = search(shop, "q=email&in=field")["hits"]
    assert order == {
        "subject": "orders-value",
        "version": 1,
        "id": 1,
        "schemaType": "AVRO",
        "deleted": False,
        "name": "shop.Order",
        "in": ["field"],
        "fields": ["shop.Buyer.email"],
        "line": 1,
        "column": 191,
        "excerpt": '"Who pays the Total","fields":[{"name":"email","type":"string","confluent:tags":["PII"]}]}}]}',
    }
    assert ORDER[190:195] == "email"
    assert (invoice["line"], invoice["column"], invoice["fields"]) == (1, 51, ["object.email"])
    assert (parcel["line"], parcel["column"], parcel["excerpt"]) == (5, 10, "string buyer_email = 1;")
    by_name = search(shop, "q=orders-v")["hits"][0]
    assert (by_name["line"], by_name["column"], by_name["excerpt"], by_name["fields"]) == (None, None, None, [])
    by_text = search(shop, "q=who+pays&in=text")["hits"][0]
    assert (by_text["line"], by_text["column"]) == (1, 1 + ORDER.index("Who pays"))


def test_hits_are_in_pages_and_totals_are_not(shop: Any) -> None:
    told = search(shop, "q=email&offset=1&limit=1")
    assert [hit["subject"] for hit in told["hits"]] == ["orders-value"]
    assert (told["total"], told["in"]["field"]) == (3, 3)
    assert shop("GET", "/contexts/eu/search?q=email").json()["total"] == 1


REFUSED = [
    ("q=", "q must have 1 to 16 words, and at most 500 characters"),
    ("q=+++", "q must have 1 to 16 words, and at most 500 characters"),
    ("q=" + "+".join("abcdefghijklmnopq"), "q must have 1 to 16 words, and at most 500 characters"),
    ("q=" + "x" * 501, "q must have 1 to 16 words, and at most 500 characters"),
    ("q=a&in=names", "in must be a list of name, field, text, not 'names'"),
    ("q=a&in=name,TEXT", "in must be a list of name, field, text, not 'TEXT'"),
    ("in=name", "in needs q, the words to search for"),
]


@pytest.mark.parametrize(("query", "message"), REFUSED)
def test_a_search_that_is_refused(api: Any, query: str, message: str) -> None:
    answered = api("GET", f"/search?{query}")
    assert (answered.status_code, answered.json()) == (400, {"error_code": 400, "message": message})


def fill(view: View, texts: dict[str, str]) -> View:
    for number, (subject, text) in enumerate(texts.items(), 1):
        version = Version(subject, 1, number, text, deleted=False, timestamp=0)
        view.apply_record(records.version_record(records.encode_key(Key(records.SCHEMA, subject, 1)), version))
    return view


WORDS = st.text("ab.", min_size=1, max_size=3)
RECORDS = st.builds(
    lambda name, fields: (
        f'{{"type":"record","name":"{name}","fields":['
        + ",".join(f'{{"name":"{field}","type":"int"}}' for field in fields)
        + "]}"
    ),
    st.text("ab", min_size=1, max_size=2),
    st.lists(st.text("ab", min_size=1, max_size=3), max_size=3),
)


@settings(max_examples=200, deadline=None, database=None)
@given(
    st.dictionaries(st.text("ab-", min_size=1, max_size=3), RECORDS, max_size=4),
    st.lists(WORDS, min_size=1, max_size=2),
    st.sets(st.sampled_from(PLACES), min_size=1),
)
def test_a_scan_finds_the_same_names_as_a_naive_search(
    texts: dict[str, str], words: list[str], places: set[str]
) -> None:
    view, index = fill(View(), texts), NameIndex()
    query = WordQuery(tuple(words), frozenset(places), Query(prefix=":*:"))
    while (scan := scan_words(view, query, index, {})).unread:
        for version in scan.unread:
            index.add(text_key(version), find_names(Listing((version.content.schema,))).names[0])
    expected = {}
    for subject, text in texts.items():
        names = find_names(Listing((view.versions(subject)[0].content.schema,))).names[0]
        paths = [path for path in names.field_paths if all(_ends_with(path, word) for word in words)]
        in_place = {
            "name": all(word in subject or word in (names.name or "") for word in words),
            "field": bool(paths),
            "text": all(word in text for word in words),
        }
        where = tuple(place for place in PLACES if place in places and in_place[place])
        if where:
            expected[subject] = where
    assert {hit.version.subject: hit.places for hit in scan.hits} == expected
    assert [hit.version.subject for hit in scan.hits] == sorted(expected)
    counts = {place: sum(place in where for where in expected.values()) for place in places}
    assert {place: scan.counts[place] for place in places} == counts


def _ends_with(path: str, word: str) -> bool:
    """Tell whether a word is in the last name, or begins before it and reaches into it."""
    starts = [start for start in range(len(path)) if path.startswith(word, start)]
    return any("." not in path[start + len(word) :] for start in starts)


def test_20_000_subjects_are_searched(api: Any) -> None:
    sizes = range(1, 20_006)
    view = api.client.app.state.registry.node.view
    fill(view, {f"s{size}": f'{{"type":"fixed","name":"F","size":{size}}}' for size in sizes})
    told = search(api, "q=s1999&in=name,text&limit=2")
    assert (told["total"], [hit["subject"] for hit in told["hits"]]) == (11, ["s1999", "s19990"])
    told = search(api, "q=19999&in=name,text&limit=2")
    assert (told["total"], told["in"], told["hits"][0]["excerpt"]) == (
        1,
        {"name": 1, "text": 1},
        '{"type":"fixed","name":"F","size":19999}',
    )


def test_the_search_does_not_count_unreadable_versions(guarded: Any) -> None:
    for subject in ("open.a", "sealed.a"):
        assert guarded("admin", f"/subjects/{subject}/versions", {"schema": ORDER}).status == 200
    for name, total in (("admin", 2), ("reader", 1), ("lister", 0), ("nobody", 0)):
        told = json.loads(guarded(name, "/search?q=email").body)
        assert (told["total"], told["in"]["text"], len(told["hits"])) == (total, total, total)
