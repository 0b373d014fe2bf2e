"""Look-ups of a schema's version: with its references spelled out, with a version in its metadata, or empty."""

from __future__ import annotations

from typing import Any

import pytest

MONEY = '{"type":"record","name":"Money","namespace":"shop","fields":[{"name":"cents","type":"long"}]}'
LINE = '{"type":"record","name":"Line","namespace":"shop","fields":[{"name":"price","type":"Money"}]}'
ORDER = (
    '{"type":"record","name":"Order","namespace":"shop","doc":"d","fields":['
    '{"name":"lines","type":{"type":"array","items":"Line"}},{"name":"total","type":["null","Money"],"default":null}]}'
)
#: What a class that Java's Avro compiler makes of these three sends.
INLINED = (
    '{"type":"record","name":"Order","namespace":"shop","doc":"d","fields":['
    '{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":['
    '{"name":"price","type":{"type":"record","name":"Money","fields":[{"name":"cents","type":"long"}]}}]}}},'
    '{"name":"total","type":["null","Money"],"default":null}]}'
)


@pytest.fixture
def shop(api: Any) -> Any:
    """A registry with orders, which refer to lines, which refer to money."""
    api.register("money", MONEY)
    api.register("line", LINE, references=[{"name": "shop.Money", "subject": "money", "version": 1}])
    references = [
        {"name": "shop.Line", "subject": "line", "version": 1},
        {"name": "shop.Money", "subject": "money", "version": 1},
    ]
    assert api.register("order", ORDER, references=references).json()["id"] == 3
    return api


@pytest.mark.parametrize("text", [INLINED, INLINED.replace(":", " : "), INLINED.replace('"Money"]', '"shop.Money"]')])
def test_look_up_finds_a_version_by_the_schema_with_inlined_references(shop: Any, text: str) -> None:
    found = shop("POST", "/subjects/order", {"schema": text})
    assert (found.status_code, found.json()["version"], found.json()["id"]) == (200, 1, 3)
    assert found.json()["schema"] == ORDER
    registered = shop.register("order", text)
    assert (registered.status_code, registered.json()["version"], registered.json()["id"]) == (200, 1, 3)
    assert shop("GET", "/subjects/order/versions").json() == [1]


def test_look_up_finds_a_version_before_newer_versions(shop: Any) -> None:
    shop("PUT", "/config", {"compatibility": "NONE"})
    assert shop.register("order", '"int"').json()["version"] == 2
    assert shop("POST", "/subjects/order", {"schema": INLINED}).json()["version"] == 1
    assert shop.register("order", INLINED).json()["version"] == 1


def test_look_up_finds_the_version_with_normalize(shop: Any) -> None:
    text = INLINED.replace('"doc":"d",', '"doc":"d","aliases":["B","A"],')
    references = [
        {"name": "shop.Line", "subject": "line", "version": 1},
        {"name": "shop.Money", "subject": "money", "version": 1},
    ]
    stored = ORDER.replace('"doc":"d",', '"doc":"d","aliases":["A","B"],')
    assert shop.register("n", stored, "?normalize=true", references=references).json()["id"] == 4
    assert shop("POST", "/subjects/n?normalize=true", {"schema": text}).json()["version"] == 1
    assert shop("POST", "/subjects/n", {"schema": text}).status_code == 404
    assert shop.register("n", text, "?normalize=true").json()["id"] == 4


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        (INLINED.replace('"doc":"d"', '"doc":"e"'), {}),
        (INLINED.replace('"cents","type":"long"', '"cents","type":"int"'), {}),
        (INLINED, {"metadata": {"properties": {"a": "b"}}}),
    ],
)
def test_a_text_that_differs_from_its_reference_is_another_schema(shop: Any, schema: str, fields: Any) -> None:
    answered = shop("POST", "/subjects/order", {"schema": schema, **fields})
    assert (answered.status_code, answered.json()["error_code"]) == (404, 40403)
    shop("PUT", "/config", {"compatibility": "NONE"})
    assert shop.register("order", schema, **fields).json()["version"] == 2


def test_look_up_finds_a_deleted_version_on_request(shop: Any) -> None:
    shop("DELETE", "/subjects/order/versions/1")
    assert shop("POST", "/subjects/order?deleted=true", {"schema": INLINED}).json()["version"] == 1
    assert shop("POST", "/subjects/order", {"schema": INLINED}).json()["error_code"] == 40401


def test_a_version_in_the_metadata_names_the_version(api: Any) -> None:
    text = '{"type":"record","name":"R","fields":[]}'
    assert api.register("s", text).json()["version"] == 1
    assert api.register("s", text, metadata={"properties": {"confluent:version": "2"}}).json()["version"] == 2
    for number in (1, 2):
        asked = {"schema": text, "metadata": {"properties": {"confluent:version": str(number)}}}
        assert api("POST", "/subjects/s", asked).json()["version"] == number
        assert api.register("s", text.replace(":", ": "), metadata=asked["metadata"]).json()["version"] == number
    asked = {"schema": text, "metadata": {"properties": {"confluent:version": "3"}}}
    assert api("POST", "/subjects/s", asked).json() == {"error_code": 40403, "message": "Schema not found"}
    assert api("POST", "/subjects/s", {"schema": text}).json()["version"] == 1
    assert api("GET", "/subjects/s/versions").json() == [1, 2]


def test_registering_finds_the_version_before_it_inherits_metadata(api: Any) -> None:
    text = '{"type": "record", "name": "R", "fields": []}'
    api.register("s", text)
    api.register("s", text, metadata={"properties": {"a": "b"}})
    assert api.register("s", text).json()["version"] == 1
    assert api("GET", "/subjects/s/versions").json() == [1, 2]


@pytest.mark.parametrize("text", ["", "  "])
@pytest.mark.parametrize("schema_type", ["AVRO", "JSON", "PROTOBUF"])
def test_look_up_finds_no_empty_schema(api: Any, schema_type: str, text: str) -> None:
    body = {"schema": text, "schemaType": schema_type}
    answered = api("POST", "/subjects/s", body)
    assert (answered.status_code, answered.json()["error_code"]) == (404, 40401)
    api.register("s", '"int"')
    answered = api("POST", "/subjects/s", body)
    assert (answered.status_code, answered.json()) == (404, {"error_code": 40403, "message": "Schema not found"})


@pytest.mark.parametrize("version", ["/1", "/latest", ""])
@pytest.mark.parametrize("schema_type", ["AVRO", "JSON", "PROTOBUF"])
def test_an_empty_schema_is_compatible_with_nothing(api: Any, schema_type: str, version: str) -> None:
    api.register("s", '"int"')
    path = f"/compatibility/subjects/s/versions{version}"
    body = {"schema": "", "schemaType": schema_type}
    answered = api("POST", path, body)
    assert (answered.status_code, answered.json()) == (422, {"error_code": 42201, "message": "Empty schema"})
    answered = api("POST", f"{path}?verbose=true", body)
    assert (answered.status_code, answered.json()) == (200, {"is_compatible": False, "messages": ["Empty schema"]})


ALIASED = '{"type":"record","name":"R","fields":[],"p":%s,"aliases":[%s]}'


@pytest.mark.parametrize("query", ["", "?normalize=true"])
@pytest.mark.parametrize("stored_query", ["", "?normalize=true"])
def test_the_order_of_aliases_and_properties_does_not_count(api: Any, stored_query: str, query: str) -> None:
    stored = ALIASED % ('{"y":1,"x":2}', '"T","S"')
    assert api.register("s", stored, stored_query).json()["id"] == 1
    other = ALIASED % ('{"x":2,"y":1}', '"S","T"')
    for text in (stored, other, api("GET", "/schemas/ids/1").json()["schema"]):
        assert api("POST", f"/subjects/s{query}", {"schema": text}).json()["id"] == 1
        assert api.register("s", text, query).json()["id"] == 1
    different = ALIASED % ('{"x":1,"y":2}', '"S","T"')
    assert api("POST", f"/subjects/s{query}", {"schema": different}).json()["error_code"] == 40403
    assert api("GET", "/subjects/s/versions").json() == [1]


#: A text that an import or an older registry stored; new schemas may have no such name.
DOTTED = '{"type":"record","name":"R","fields":[{"name":"x.y","type":"int","default":1}]}'
ILLEGAL = {"error_code": 42201, "message": "Invalid schema of type AVRO, details: Illegal character in: x.y"}


@pytest.fixture
def dotted(api: Any) -> Any:
    """A registry that has such a text as version 1 of `s`, with id 7."""
    api("PUT", "/mode/s", {"mode": "IMPORT"})
    assert api.register("s", DOTTED, id=7, version=1).json()["id"] == 7
    api("PUT", "/mode/s", {"mode": "READWRITE"})
    return api


@pytest.mark.parametrize("query", ["", "?normalize=true"])
@pytest.mark.parametrize("text", [DOTTED, DOTTED.replace(":", " : ")])
def test_a_stored_text_that_is_no_new_schema_stays_registered(dotted: Any, query: str, text: str) -> None:
    answer = dotted("POST", f"/subjects/s/versions{query}", {"schema": text})
    assert (answer.status_code, answer.json()["id"], answer.json()["version"]) == (200, 7, 1)
    assert dotted("POST", f"/subjects/s{query}", {"schema": text}).json()["version"] == 1
    assert dotted("GET", "/subjects/s/versions").json() == [1]


@pytest.mark.parametrize("query", ["", "?normalize=true"])
def test_a_text_that_is_not_stored_has_to_be_a_new_schema(dotted: Any, query: str) -> None:
    for subject, text in (("s", DOTTED.replace("1}", "2}")), ("t", DOTTED)):
        answer = dotted("POST", f"/subjects/{subject}/versions{query}", {"schema": text})
        assert (answer.status_code, answer.json()) == (422, ILLEGAL)
    later = DOTTED.replace("x.y", "xy")
    assert dotted("POST", "/compatibility/subjects/s/versions/1", {"schema": later}).json() == {"is_compatible": True}
