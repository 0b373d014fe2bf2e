"""The bound on a validator's work, and that the library behaves as the bound takes for granted."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest

from compat.json_schema.validate.scc import components
from compat.json_schema.validate.validators import bounded_work, compiled
from compat.json_schema.validate.work import Tangle
from compat.schema import Dependency

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
#: Work that takes about 10 ms.
QUICK = 1_000_000


def chain(depth: int, link: Any, leaf: Any = None, **root: Any) -> Any:
    """Definitions that each refer to the next one, in the way that the link shows with `NEXT`."""
    links = {
        f"d{level}": json.loads(json.dumps(link).replace("NEXT", f"#/$defs/d{level + 1}")) for level in range(depth)
    }
    definitions = {**links, f"d{depth}": {"type": "integer"} if leaf is None else leaf}
    return {"$schema": DRAFT_2020, "$defs": definitions, "$ref": "#/$defs/d0", **root}


NEXT = {"$ref": "NEXT"}


@pytest.mark.parametrize("combinator", ["oneOf", "anyOf", "allOf"])
def test_work_doubles_with_each_level_where_references_meet_again(combinator: str) -> None:
    bounds = [bounded_work(chain(depth, {combinator: [NEXT, NEXT]})).bound(10) for depth in (10, 20, 26)]
    assert bounds[0] < QUICK
    assert 1000 < bounds[1] / bounds[0] < 1100
    assert 60 < bounds[2] / bounds[1] < 70


@pytest.mark.parametrize(
    "link",
    [
        {"if": NEXT, "then": NEXT, "else": NEXT},
        {"dependentSchemas": {"a": NEXT, "b": NEXT}},
        {"not": {"allOf": [NEXT, {"not": NEXT}]}},
        {"anyOf": [{"properties": {"a": NEXT}}, {"properties": {"a": NEXT}, "title": "other"}]},
        {"anyOf": [{"items": NEXT}, {"items": NEXT, "title": "other"}]},
        {"allOf": [NEXT], "unevaluatedProperties": False},
        {"properties": {"a": NEXT}, "patternProperties": {"a": NEXT, "^a": NEXT}},
    ],
)
def test_every_keyword_that_multiplies_work_is_counted(link: Any) -> None:
    assert bounded_work(chain(26, link)).bound(200) > 20 * QUICK


@pytest.mark.parametrize(
    "schema",
    [
        chain(26, {"properties": {"a": NEXT, "b": NEXT, "c": {"type": "string"}}}, True)["$defs"]["d0"],
        {"$schema": DRAFT_7, "properties": {"next": {"$ref": "#"}, "value": {"type": "integer"}}},
        {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "items": {"items": {"$ref": "#"}}}},
        {"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}]},
        {"properties": {f"field{number}": {"type": "string", "minLength": 1} for number in range(500)}},
        {"oneOf": [{"properties": {"kind": {"const": number}}, "required": ["kind"]} for number in range(50)]},
        {"properties": {"id": {"pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}}},
        {"properties": {"code": {"pattern": "^(?=.*[A-Z]).{2}$"}}},
    ],
)
def test_plain_schemas_are_quick(schema: Any) -> None:
    schema = json.loads(json.dumps(schema).replace("#/$defs/d1", "#/$defs/leaf"))
    assert bounded_work({"$defs": {"leaf": {}}, **schema}).bound(500) < QUICK


def test_a_mesh_of_types_that_refer_to_each_other_by_name_is_quick() -> None:
    types = {
        f"t{number}": {"properties": {f"p{link}": {"$ref": f"#/definitions/t{link}"} for link in range(20)}}
        for number in range(20)
    }
    assert bounded_work({"definitions": types, "$ref": "#/definitions/t0"}).bound(1000) < QUICK


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_2020, "allOf": [{"$ref": "#"}]},
        {"$schema": DRAFT_2020, "anyOf": [{"type": "integer"}, {"not": {"$ref": "#"}}]},
        {
            "$schema": DRAFT_2020,
            "$defs": {
                "other": {"$id": "http://a/other", "$dynamicRef": "#node", "$defs": {"n": {"$dynamicAnchor": "node"}}}
            },
            "$dynamicAnchor": "node",
            "$ref": "http://a/other",
        },
        {"items": {"pattern": "x{1000}{100}"}},
    ],
)
def test_some_schemas_need_unbounded_work(schema: Any) -> None:
    assert bounded_work(schema).bound(1) == math.inf


@pytest.mark.parametrize(
    ("schema", "tangle"),
    [
        (chain(20, {"oneOf": [NEXT, NEXT]}), Tangle("oneOf", ("$defs", "d0", "oneOf"), ())),
        (
            {
                "$schema": DRAFT_7,
                "properties": {
                    "id": {"type": "string"},
                    "lines": {"items": {"anyOf": [{"required": [str(number)]} for number in range(9)]}},
                },
            },
            Tangle("anyOf", ("properties", "lines", "items", "anyOf"), ("lines", "*")),
        ),
        ({"type": "string"}, Tangle("type", ("type",), ())),
        (True, Tangle("false", ("false",), ())),
    ],
)
def test_bounded_work_names_the_most_expensive_place(schema: Any, tangle: Tangle) -> None:
    assert bounded_work(schema).tangle == tangle


def test_work_in_dependencies_counts() -> None:
    tangled = json.dumps(chain(20, {"oneOf": [NEXT, NEXT]}))
    assert bounded_work({"$ref": "a.json"}, (Dependency("a.json", tangled),)).bound(1) > QUICK


@pytest.mark.parametrize("reference", ["nope.json", "#/definitions/nope", "#nope"])
def test_bounded_work_refuses_a_dangling_reference(reference: str) -> None:
    with pytest.raises(ValueError, match=f"unresolved reference '{reference}'"):
        bounded_work({"items": {"$ref": reference}})


@pytest.mark.parametrize("draft", [DRAFT_7, DRAFT_2020])
def test_the_library_caches_the_verdict_of_a_recursive_schema_on_an_object(draft: str) -> None:
    """The bound for schemas in a circle rests on that: without, this takes 2 to the power of 60 steps."""
    again = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    validator = compiled({"$schema": draft, "anyOf": [again, {**again, "title": "other"}]})
    value: Any = 1
    for _ in range(60):
        value = {"a": value}
    started = time.process_time()
    assert not validator.is_valid(value)
    assert time.process_time() - started < 1


def test_components() -> None:
    graph = {1: [2], 2: [3, 4], 3: [1], 4: [5], 5: [4, 6], 6: []}
    assert [sorted(component) for component in components(graph)] == [[6], [4, 5], [1, 2, 3]]
    assert [len(component) for component in components({node: [node + 1] for node in range(9999)} | {9999: []})] == (
        [1] * 10_000
    )
