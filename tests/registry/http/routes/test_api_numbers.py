"""JSON Schemas keep their numbers, and versions that were stored with doubles are still found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.log.port import Record

SENT_AND_STORED = [
    ("1.50", "1.50"),
    ("100.00", "100.00"),
    ("0.00001", "0.00001"),
    ("123456789.0", "123456789.0"),
    ("12345678901234567890.5", "12345678901234567890.5"),
    ("1e100", "1E+100"),
    ("1E2", "1E+2"),
    ("1e400", "1E+400"),
    ("-0.0", "0.0"),
    ("0.1e1", "1"),
]
#: Texts as they were sent, and as the registry stored them before it kept all digits.
WITH_DOUBLES = [
    ('{"minimum":1.50}', '{"minimum":1.5}'),
    ('{"maximum":1e100}', '{"maximum":1.0E100}'),
    ('{ "enum": [0.00001, -0.0] }', '{"enum":[1.0E-5,-0.0]}'),
    ('{"const":12345678901234567890.5}', '{"const":1.2345678901234567E19}'),
]


@pytest.mark.parametrize("query", ["", "?normalize=true"])
@pytest.mark.parametrize(("sent", "stored"), SENT_AND_STORED)
def test_a_number_is_stored_with_its_digits(api: Any, sent: str, stored: str, query: str) -> None:
    answered = api.register("s", f'{{ "minimum": {sent} }}', query, schemaType="JSON")
    assert answered.status_code == 200, answered.json()
    assert api("GET", "/schemas/ids/1").json()["schema"] == f'{{"minimum":{stored}}}'


def test_tags_leave_numbers_as_they_are(api: Any) -> None:
    api.register("s", '{"type":"object","properties":{"a":{"minimum":1.50}}}', schemaType="JSON")
    tag = {"schemaEntity": {"entityPath": "object.a", "entityType": "sr_field"}, "tags": ["PII"]}
    answered = api("POST", "/subjects/s/versions/1/tags", {"tagsToAdd": [tag]})
    assert answered.status_code == 200, answered.json()
    assert '"a":{"minimum":1.50,"confluent:tags":["PII"]}' in answered.json()["schema"]


def store(api: Any, schema: str) -> None:
    """Put a version into the log as an earlier release wrote it."""
    key = {"keytype": "SCHEMA", "subject": "s", "version": 1, "magic": 1}
    value = {"subject": "s", "version": 1, "id": 7, "schemaType": "JSON", "schema": schema, "deleted": False}
    api.log.append([Record(json.dumps(key).encode(), json.dumps(value).encode(), 0)], api.log.end())
    # A node that writes first reads what others have written.
    api.register("other", '"int"')


@pytest.mark.parametrize("query", ["", "?normalize=true"])
@pytest.mark.parametrize(("sent", "stored"), WITH_DOUBLES)
def test_a_version_stored_with_doubles_is_found(api: Any, sent: str, stored: str, query: str) -> None:
    store(api, stored)
    for text in (sent, stored, f" {stored}"):
        body = {"schema": text, "schemaType": "JSON"}
        found = api("POST", f"/subjects/s{query}", body)
        assert (found.json()["id"], found.json()["version"], found.json()["schema"]) == (7, 1, stored)
        assert api.register("s", text, query, schemaType="JSON").json()["id"] == 7
    assert api("GET", "/subjects/s/versions").json() == [1]
    assert api("GET", "/schemas/ids/7").json()["schema"] == stored


def test_other_digits_are_another_schema(api: Any) -> None:
    store(api, '{"maximum":1.5}')
    for text in ('{"maximum":1.6}', '{"maximum":15e-1,"minimum":1.50}'):
        found = api("POST", "/subjects/s", {"schema": text, "schemaType": "JSON"})
        assert (found.status_code, found.json()["error_code"]) == (404, 40403)
