"""Compatibility checks at another level, and against every version in both directions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.registry.http.workers import answered_by_worker


def record(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "R", "fields": fields})


A, A_LONG = {"name": "a", "type": "int"}, {"name": "a", "type": "long"}
B, B_DEFAULT = {"name": "b", "type": "string"}, {"name": "b", "type": "string", "default": ""}

ALL = "/compatibility/subjects/s/versions"


@pytest.fixture
def history(api: Any) -> Any:
    """Three live versions and a deleted one."""
    api("PUT", "/config/s", {"compatibility": "NONE"})
    for fields in ((A,), (B,), (A, B_DEFAULT), (A_LONG, B_DEFAULT)):
        assert api.register("s", record(*fields)).status_code == 200
    api("DELETE", "/subjects/s/versions/2")
    api("PUT", "/config/s", {"compatibility": "BACKWARD"})
    return api


def ask(api: Any, path: str, *fields: dict[str, Any]) -> dict[str, Any]:
    answered = answered_by_worker(api, path, {"schema": record(*fields)})
    assert answered.status_code == 200, answered.text
    told: dict[str, Any] = answered.json()
    return told


# fields, query, is_compatible
LEVELS = [
    ((A, B), "", False),
    ((A_LONG, B), "", True),
    ((A_LONG, B), "?level=BACKWARD", True),
    ((A_LONG, B), "?level=backward_transitive", False),
    ((A_LONG, B), "?level=FORWARD_TRANSITIVE", False),
    ((A, B), "?level=FORWARD_TRANSITIVE", True),
    ((A, B), "?level=none", True),
    ((A, B), "?level=", False),
]


@pytest.mark.parametrize(("fields", "query", "is_compatible"), LEVELS)
def test_a_schema_is_judged_at_the_level_of_the_query(
    history: Any, fields: tuple[dict[str, Any], ...], query: str, is_compatible: bool
) -> None:
    assert ask(history, ALL + query, *fields) == {"is_compatible": is_compatible}
    query = query or "?"
    every = ask(history, f"{ALL}{query}&every=true", *fields)
    assert every["is_compatible"] == is_compatible
    verbose = ask(history, f"{ALL}{query}&verbose=true", *fields)
    assert ask(history, f"{ALL}{query}&every=true&verbose=true", *fields)["messages"] == verbose["messages"]


def test_every_version_is_compared_in_both_directions(history: Any) -> None:
    told = ask(history, f"{ALL}?every=true&explain=true", A_LONG, B)
    explanations = told.pop("explanations")
    assert told == {
        "is_compatible": True,
        "versions": [
            {"version": 4, "backward": True, "forward": True},
            {"version": 3, "backward": True, "forward": False},
            {"version": 1, "backward": False, "forward": False},
        ],
        "cut": False,
    }
    errors = [item for item in explanations if item["severity"] == "error"]
    assert [(item["version"], item["direction"], item["rule"], item["path"]) for item in errors] == [
        (3, "FORWARD", "TYPE_MISMATCH", "/fields/0/type"),
        (1, "FORWARD", "TYPE_MISMATCH", "/fields/0/type"),
        (1, "BACKWARD", "READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/1"),
    ]
    assert all(item["example"] for item in errors)
    assert [edit["text"] for edit in errors[2]["fixes"][0]["edits"]] == ['["null", "string"]', ', "default": null']


def test_one_version_is_compared_in_both_directions(history: Any) -> None:
    path = "/compatibility/subjects/s/versions/3?every=true"
    assert ask(history, path, A_LONG, B) == {
        "is_compatible": True,
        "versions": [{"version": 3, "backward": True, "forward": False}],
        "cut": False,
    }
    assert not ask(history, f"{path}&level=FULL", A_LONG, B)["is_compatible"]
    assert "explanations" not in ask(history, "/compatibility/subjects/s/versions/3?level=FULL", A_LONG, B)


def test_a_subject_without_versions_has_an_empty_matrix(api: Any) -> None:
    assert ask(api, f"{ALL}?every=true&explain=true", A) == {
        "is_compatible": True,
        "versions": [],
        "cut": False,
        "explanations": [],
    }


@pytest.mark.parametrize("path", [ALL, "/compatibility/subjects/s/versions/latest", f"/contexts/eu{ALL}"])
def test_an_invalid_level(api: Any, path: str) -> None:
    answered = api("POST", f"{path}?level=SIDEWAYS&every=true", {"schema": '"int"'})
    assert (answered.status_code, answered.json()["error_code"]) == (422, 42203)
    assert answered.json()["message"].startswith("Invalid compatibility level. Valid values are none, backward, ")


@pytest.mark.slow
def test_more_work_than_a_request_may_take_is_cut(api: Any) -> None:
    api("PUT", "/config/s", {"compatibility": "NONE"})
    numbers = range(3000)
    for version in range(14):
        fields = [{"name": f"a_field_of_a_long_record_{at}", "type": "int", "doc": str(version)} for at in numbers]
        body = {"schema": record(*fields)}
        assert answered_by_worker(api, "/subjects/s/versions", body).status_code == 200
    changed = [{"name": f"a_field_of_a_long_record_{at}", "type": "string"} for at in numbers]
    told = ask(api, f"{ALL}?every=true", *changed)
    assert told["cut"] is True
    assert told["versions"][0] == {"version": 14, "backward": False, "forward": False}
    assert len(told["versions"]) < 14
    path = f"{ALL}?every=true&level=BACKWARD_TRANSITIVE"
    refused = answered_by_worker(api, path, {"schema": record(*changed)})
    assert refused.json()["is_compatible"] is False


def proto(field: str) -> str:
    return f'syntax = "proto3";\nmessage M {{\n  {field} = 1;\n}}\n'


OTHER_TYPES = [
    ("JSON", '{"type":"object","properties":{"a":{"type":"string"}}}', "{}", (True, False), ["FORWARD"]),
    ("JSON", "{}", '{"type":"object"}', (False, True), ["BACKWARD"]),
    ("PROTOBUF", proto("int32 a"), proto("string a"), (False, False), ["BACKWARD", "FORWARD"]),
    ("PROTOBUF", proto("int32 a"), proto("int64 a"), (True, True), []),
]


@pytest.mark.parametrize(("kind", "old", "new", "holds", "directions"), OTHER_TYPES, ids=range(len(OTHER_TYPES)))
def test_other_types_are_compared_in_both_directions(
    api: Any, kind: str, old: str, new: str, holds: tuple[bool, bool], directions: list[str]
) -> None:
    api.register("s", old, schemaType=kind)
    told = api("POST", f"{ALL}?every=true&explain=true&level=NONE", {"schema": new, "schemaType": kind}).json()
    backward, forward = holds
    assert told["is_compatible"] is True
    assert told["versions"] == [{"version": 1, "backward": backward, "forward": forward}]
    errors = [item for item in told["explanations"] if item["severity"] == "error"]
    assert sorted({item["direction"] for item in errors}) == directions
    assert all(item["example"] for item in errors)


@pytest.mark.parametrize("every", ["", "&every=true"])
def test_fixes_are_tried_on_all_versions_of_the_level(api: Any, every: str) -> None:
    api("PUT", "/config/s", {"compatibility": "NONE"})
    for kind in ("int", "string"):
        api.register("s", record({"name": "x", "type": kind}))
    titles = {}
    for level in ("backward", "backward_transitive"):
        told = ask(api, f"{ALL}?level={level}&explain=true{every}", {"name": "x", "type": "int"})
        backward = [told for told in told["explanations"] if told["direction"] == "BACKWARD"]
        titles[level] = [fix["title"] for fix in backward[0]["fixes"]]
    assert titles == {
        "backward": ["Read both types, by a union", "Keep the type"],
        "backward_transitive": ["Read both types, by a union"],
    }
