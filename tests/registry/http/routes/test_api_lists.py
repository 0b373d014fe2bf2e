"""Long lists come in pages and in parts, and searches read each schema once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from compat.schema import SchemaText
from registry.answering import Answering
from registry.feed.name_search import NameIndex
from registry.offload.jobs import Names


def documented(number: int, size: int) -> str:
    return json.dumps({"type": "fixed", "name": f"F{number}", "size": 1, "doc": "x" * size}, separators=(",", ":"))


def pages(api: Any, path: str) -> list[list[int]]:
    """The ids on each page, as the links lead from one to the next."""
    found = []
    while True:
        answered = api("GET", path)
        found.append([version["id"] for version in answered.json()])
        link = answered.headers.get("link")
        if link is None:
            return found
        assert link.endswith('>; rel="next"')
        path = link[1:].partition(">")[0]


def test_a_list_without_a_limit_is_cut_by_size_and_links_the_next_page(make_api: Callable[..., Any]) -> None:
    api = make_api(**{"magicbyte.schema.search.max.bytes": "1000"})
    for number in range(1, 6):
        api.register(f"s{number}", documented(number, 400))
    api.register("s6", documented(6, 2000))
    assert pages(api, "/schemas") == [[1, 2], [3, 4], [5], [6]]
    assert pages(api, "/schemas?subjectPrefix=s&deleted=true&limit=0") == [[1, 2], [3, 4], [5], [6]]


def test_a_limit_is_kept_whatever_the_size(make_api: Callable[..., Any]) -> None:
    api = make_api(**{"magicbyte.schema.search.max.bytes": "1000"})
    for number in range(1, 6):
        api.register(f"s{number}", documented(number, 400))
    assert pages(api, "/schemas?limit=3") == [[1, 2, 3], [4, 5]]
    assert pages(api, "/schemas?offset=1&limit=3") == [[2, 3, 4], [5]]
    assert pages(api, "/schemas?limit=1000") == [[1, 2, 3, 4, 5]]
    assert pages(api, "/schemas?offset=5") == [[]]


def test_a_link_keeps_the_context(make_api: Callable[..., Any]) -> None:
    api = make_api(**{"magicbyte.schema.search.max.bytes": "1000"})
    for number in range(1, 4):
        api.register(f":.c:s{number}", documented(number, 400))
    assert api("GET", "/contexts/.c/schemas").headers["link"] == '</contexts/.c/schemas?offset=2>; rel="next"'
    assert pages(api, "/contexts/.c/schemas") == [[1, 2], [3]]


def test_a_list_of_many_megabytes_is_whole(api: Any) -> None:
    for number in range(1, 31):
        api.register(f"s{number}", documented(number, 300_000))
    answered = api("GET", "/schemas")
    assert answered.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
    assert [len(version["schema"]) > 300_000 for version in answered.json()] == [True] * 30


def test_a_search_reads_only_schemas_that_no_earlier_search_has_read(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    names = Answering.names

    async def counting(answering: Answering, schemas: Sequence[SchemaText], client: str) -> tuple[Names, ...]:
        read.extend(schema.text for schema in schemas)
        return await names(answering, schemas, client)

    monkeypatch.setattr(Answering, "names", counting)

    def found(query: str) -> list[str]:
        return [hit["subject"] for hit in api("GET", f"/search?{query}").json()]

    text = '{"type":"record","name":"R%d","fields":[{"name":"field_%d","type":"int"}]}'
    for number in range(1, 6):
        api.register(f"s{number}", text % (number, number))
    api.register("same", text % (1, 1))
    assert found("field=field_3") == ["s3"]
    # The others have no such text, and two have the same.
    assert read == [text % (3, 3)]
    assert found("field=field_") == ["s1", "s2", "s3", "s4", "s5", "same"]
    assert len(read) == 5
    assert found("name=r4") == ["s4"]
    assert found("field=d_5&name=R5") == ["s5"]
    assert len(read) == 5
    api.register("s7", text % (7, 7))
    assert found("field=field_&limit=1&offset=5") == ["s7"]
    assert len(read) == 6


def test_a_field_with_a_line_break_in_its_name_is_found(api: Any) -> None:
    api.register("s", '{"properties":{"a\\nb":{"type":"string"},"c":true}}', schemaType="JSON")
    assert api("GET", "/search?field=b").json()[0]["fields"] == ["object.a\nb"]


def test_the_index_of_names_keeps_within_its_memory() -> None:
    index = NameIndex(most_bytes=1000)
    for key in range(3):
        index.add(key, Names(f"n{key}", "f" * 100))
    assert index.get(0) is None
    assert index.get(1) == Names("n1", "f" * 100)
    assert index.get(2) == Names("n2", "f" * 100)
    index.add(3, Names("n3", "f" * 2000))
    assert [index.get(key) is not None for key in range(4)] == [False, True, True, False]
