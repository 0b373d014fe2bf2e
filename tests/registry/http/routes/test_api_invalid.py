"""42201 tells the position of what makes a schema invalid, if `explain` asks for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

FIELD = '{"type":"record","name":"R","fields":[\n  {"name":"a","type":"nothing"}]}'
LONG = (
    '{"type":"record","name":"R","fields":['
    + ",\n".join(f'{{"name":"field_{number}","type":"int"}}' for number in range(2000))
    + ',\n{"name":"last","type":"nothing"}]}'
)

# type, text, line and column
INVALID = [
    ("AVRO", '{"type": "record",\n "name": }', (2, 10)),
    ("AVRO", FIELD, (2, 3)),
    ("AVRO", '["int",\n{"type":"enum","name":"E","symbols":["9E"]}]', (2, 1)),
    ("AVRO", LONG, (2001, 1)),
    ("JSON", '{"type":\n  "objekt"}', (1, 2)),
    ("JSON", '{"type"', (1, 8)),
    ("PROTOBUF", 'syntax = "proto3";\nmessage M {\n  int32 a = 1\n}\n', (4, 1)),
    ("PROTOBUF", 'syntax = "proto3";\nmessage M { Nothing n = 1; }\n', (2, 13)),
]
#: Look-ups read texts as leniently as those that old servers stored.
ACCEPTED_IN_LOOK_UPS = (INVALID[2][1], INVALID[7][1])
POSTS = [
    "/subjects/s/versions",
    "/subjects/s",
    "/compatibility/subjects/s/versions",
    "/compatibility/subjects/s/versions/latest",
]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(("kind", "text", "place"), INVALID, ids=range(len(INVALID)))
def test_the_error_has_the_position_of_the_fault_in_the_schema(
    api: Any, path: str, kind: str, text: str, place: tuple[int, int]
) -> None:
    api.register("s", '"int"')
    body = {"schema": text, "schemaType": kind}
    if path == "/subjects/s" and text in ACCEPTED_IN_LOOK_UPS:
        assert api("POST", f"{path}?explain=true", body).json()["error_code"] == 40403
        return
    plain = api("POST", path, body)
    assert list(plain.json()) == ["error_code", "message"]
    explained = api("POST", f"{path}?explain=true", body)
    assert (explained.status_code, explained.json()["error_code"]) == (422, 42201)
    line, column = place
    assert explained.json() == {**plain.json(), "position": {"line": line, "column": column}}


def test_an_error_without_a_place_has_no_position(api: Any) -> None:
    unknown = {"name": "x", "subject": "none", "version": 1}
    bodies: list[dict[str, Any]] = [
        {"schema": '"int"', "references": [unknown]},
        {"schema": "", "schemaType": "AVRO"},
        {"schema": "{}", "schemaType": "XML"},
    ]
    for body in bodies:
        answered = api("POST", "/subjects/s/versions?explain=true", body).json()
        assert (answered["error_code"], list(answered)) == (42201, ["error_code", "message"])


def test_an_error_in_a_reference_has_no_position_in_the_text(api: Any) -> None:
    """An import takes a text that no client could register."""
    broken = 'syntax = "proto3";\nmessage A { Gone g = 1; }\n'
    line = {"schemaType": "PROTOBUF", "schema": broken, "subject": "a", "version": 1, "id": 1}
    headers = {"Content-Type": "application/x-ndjson"}
    imported = api.client.post("/import?lines=true", content=json.dumps(line) + "\n", headers=headers)
    assert imported.json()["imported"] == {"schema": 1}
    referring = {
        "schema": 'syntax = "proto3";\nimport "a.proto";\nmessage B { A a = 1; }\n',
        "schemaType": "PROTOBUF",
        "references": [{"name": "a.proto", "subject": "a", "version": 1}],
    }
    assert api("POST", "/compatibility/subjects/b/versions?explain=true", referring).json() == {
        "error_code": 42201,
        "message": 'Invalid schema of type PROTOBUF, details: a.proto line 4, column 3: "Gone" is not defined',
    }
