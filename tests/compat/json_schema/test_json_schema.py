"""Loading of JSON Schemas: drafts, refusals with positions, references by name, texts and names."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import permutations
from typing import Any

import pytest

from compat.budget import Budget, TooMuchWork
from compat.json_schema import FORMAT, JsonSchema, check_fields, validator
from compat.json_schema.judges.matching import maximum_matching
from compat.json_schema.model.java_order import hash_order
from compat.json_schema.walk import listing
from compat.level import Policy
from compat.schema import JSON, Dependency, InvalidSchema, ParsedSchema, Position, SchemaText

D7 = "http://json-schema.org/draft-07/schema#"
D2020 = "https://json-schema.org/draft/2020-12/schema"


def parsed(schema: Any, *dependencies: tuple[str, Any], strict: bool = True) -> JsonSchema:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    closure = tuple(Dependency(name, json.dumps(each)) for name, each in dependencies)
    found = FORMAT.parse(SchemaText(JSON, text), closure, strict)
    assert isinstance(found, JsonSchema)
    return found


def changes(old: JsonSchema, new: JsonSchema) -> list[str]:
    return [f"{found.rule.name} {found.path}" for found in FORMAT.differences(new, old)]


@pytest.mark.parametrize(
    ("url", "draft"),
    [
        (None, "draft-07"),
        ("http://example.com/my-metaschema", "draft-07"),
        ("http://json-schema.org/draft-04/schema#", "draft-04"),
        ("https://json-schema.org/draft-04/schema", "draft-04"),
        ("http://json-schema.org/draft-06/schema", "draft-06"),
        ("https://json-schema.org/draft-07/schema#", "draft-07"),
        ("http://json-schema.org/draft/2019-09/schema#", "2019-09"),
        ("https://json-schema.org/draft/2020-12/schema", "2020-12"),
    ],
)
def test_the_draft_is_the_one_that_the_schema_names(url: str | None, draft: str):
    assert parsed({"$schema": url} if url else {}).dialect.name == draft


@pytest.mark.parametrize(
    ("text", "detail", "position"),
    [
        ("", "the schema is not JSON", Position(1, 1)),
        ('{"type": ', "the schema is not JSON", Position(1, 10)),
        ("[]", "[] is not a schema: it must be an object or a boolean (#/, line 1, column 1)", Position(1, 1)),
        ('{"type": "text"}', 'unknown type: "text" (#/type, line 1, column 2)', Position(1, 2)),
        (
            '{\n "properties": {"a": {"enum": 1}}}',
            "'enum' must be an array, not 1 (#/properties/a/enum",
            Position(2, 23),
        ),
        (
            '{"minLength": -1}',
            "the metaschema of draft-07 refuses it: -1 is less than the minimum of 0",
            Position(1, 2),
        ),
        ('{"required": ["a", "a"]}', "non-unique elements (#/required", Position(1, 2)),
        ('{"multipleOf": 0}', "multipleOf should not be 0", Position(1, 2)),
        (f'{{"$schema": "{D2020}", "items": []}}', "[] is not a schema", Position(1, 61)),
        ('{"$ref": "#/definitions/a"}', "unresolved reference '#/definitions/a': there is nothing at", Position(1, 2)),
        ('{"$ref": "#a"}', "there is no anchor 'a'", Position(1, 2)),
        (
            '{"not": {"$ref": "b.json"}}',
            "no reference is named 'b.json', and schemas are never fetched",
            Position(1, 10),
        ),
        ('{"contains": {"$ref": "http://127.0.0.1/b"}}', "never fetched from the network", Position(1, 15)),
        ('{"$ref": "#/title", "title": "a"}', "there is no schema at '#/title'", Position(1, 2)),
        ('{"$ref": "http://json-schema.org/draft-99/schema"}', "there is no official metaschema", Position(1, 2)),
        ('{"not":' * 300 + "{}" + "}" * 300, "Nested deeper than 200 levels", None),
    ],
)
def test_a_refusal_names_the_fault_and_its_place(text: str, detail: str, position: Position | None):
    with pytest.raises(InvalidSchema) as refused:
        parsed(text)
    assert detail in refused.value.detail
    assert refused.value.position == position or position is None
    assert refused.value.schema_type == JSON


def test_stored_schemas_need_not_satisfy_the_metaschema():
    text = '{"type": "string", "minLength": -1, "required": ["a", "a"]}'
    with pytest.raises(InvalidSchema):
        parsed(text)
    assert changes(parsed(text, strict=False), parsed(text, strict=False)) == []


def test_texts():
    schema = parsed('{ "type": "object",\n "properties": {"b": {"maximum": 1.0}, "a": {"enum": ["ä", 2]}} }')
    assert isinstance(schema, ParsedSchema)
    assert schema.canonical == '{"type":"object","properties":{"b":{"maximum":1.0},"a":{"enum":["ä",2]}}}'
    assert schema.normalized() == '{"properties":{"a":{"enum":["ä",2]},"b":{"maximum":1.0}},"type":"object"}'
    assert schema.rendered("resolved") == schema.canonical
    assert schema.full_name is None
    assert schema.top_level_fields == ("b", "a")
    assert parsed({"title": "Order"}).full_name == "Order"
    assert parsed(True).canonical == "true"


def test_fields_of_the_members_of_combined_schemas_are_fields_at_the_top():
    schema = {
        "allOf": [{"$ref": "#/definitions/a"}, {"properties": {"z": True}}],
        "definitions": {"a": {"properties": {"x": {}}, "allOf": [{"$ref": "#/definitions/a"}]}},
    }
    assert parsed(schema).top_level_fields == ("x", "z")


def test_field_names_with_the_reserved_prefix_are_refused_where_asked():
    check_fields(parsed({"properties": {"$a": {}, "a": {"properties": {"$$b": {}}}}}))
    with pytest.raises(InvalidSchema, match=r"Field names cannot start with \$\$ prefix") as refused:
        check_fields(parsed('{"properties": {"a": {},\n"$$b": {}}}'))
    assert refused.value.position == Position(2, 1)


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "dependencies"),
    [
        ({"$ref": "a.json"}, [("a.json", WHOLE)]),
        ({"$ref": "./a.json"}, [("a.json", WHOLE)]),
        ({"$ref": "a.json"}, [("./a.json", WHOLE)]),
        ({"$ref": "a.json#/definitions/n"}, [("a.json", {"definitions": {"n": WHOLE}})]),
        ({"$ref": "a.json#n"}, [("a.json", {"definitions": {"n": {"$id": "#n", **WHOLE}}})]),
        ({"$ref": "http://x.org/s/a.json"}, [("http://x.org/s/a.json", WHOLE)]),
        ({"$id": "http://x.org/s/main.json", "allOf": [{"$ref": "a.json"}]}, [("http://x.org/s/a.json", WHOLE)]),
        ({"$id": "http://x.org/s/main.json", "allOf": [{"$ref": "http://x.org/s/a.json"}]}, [("a.json", WHOLE)]),
        ({"$id": "http://x.org/s/main.json", "allOf": [{"$ref": "#/definitions/n"}], "definitions": {"n": WHOLE}}, []),
        ({"$ref": "b.json"}, [("a.json", WHOLE), ("b.json", {"$ref": "a.json"})]),
        ({"$ref": "dir/b.json"}, [("dir/a.json", WHOLE), ("dir/b.json", {"$ref": "a.json"})]),
        (
            {"$ref": "b.json#/definitions/n"},
            [("b.json", {"definitions": {"n": {"$ref": "#/definitions/m"}, "m": WHOLE}})],
        ),
        ({"$ref": "#/definitions/a%20b~1c"}, []),
        ({"$schema": D2020, "$ref": "#/$defs/n", "definitions": {"n": WHOLE}}, []),
        ({"$schema": D2020, "$ref": "#/definitions/n", "$defs": {"n": WHOLE}}, []),
        ({"$schema": D2020, "$ref": "#n", "$defs": {"m": {"$anchor": "n", **WHOLE}}}, []),
        ({"$schema": D2020, "$dynamicRef": "#n", "$defs": {"m": {"$dynamicAnchor": "n", **WHOLE}}}, []),
        (
            {"$schema": D2020, "$ref": "in", "$defs": {"m": {"$id": "in", "$ref": "#/$defs/q", "$defs": {"q": WHOLE}}}},
            [],
        ),
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "$ref": "#n",
                "definitions": {"m": {"id": "#n", **WHOLE}},
            },
            [],
        ),
        ({"$ref": "urn:example:a"}, [("urn:example:a", WHOLE)]),
        ({"$ref": "a.json"}, [("a.json", {"$schema": D2020, "$ref": "#/$defs/n", "$defs": {"n": WHOLE}})]),
        ({"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}, []),
    ],
)
def test_a_reference_leads_to_the_schema_that_it_names(schema: dict[str, Any], dependencies: list[tuple[str, Any]]):
    if "%20" in schema.get("$ref", ""):
        schema = {**schema, "definitions": {"a b/c": WHOLE}}
    old = parsed(schema, *dependencies)
    assert [name for name in changes(old, parsed(TEXT)) if name.startswith("TYPE_CHANGED")] == ["TYPE_CHANGED #/"]
    assert not any(name.startswith("TYPE_CHANGED") for name in changes(old, parsed(WHOLE)))
    assert validator(old).is_valid(1)
    assert not validator(old).is_valid("text")


def test_a_difference_in_a_referenced_schema_stands_at_the_reference():
    main = {"type": "object", "properties": {"a": {"$ref": "a.json"}}}
    old = parsed(main, ("a.json", {"type": "object", "properties": {"b": {"type": "string"}}}))
    new = parsed(main, ("a.json", {"type": "object", "properties": {"b": {"type": "integer"}}}))
    (found,) = FORMAT.differences(new, old)
    assert found.path == "#/properties/a/properties/b"
    assert found.reader_at == found.writer_at == ("properties", "a")
    assert FORMAT.witness(found, new, old).example == '{"a":{"b":"a"}}'


def test_metaschemas_may_be_referred_to():
    for url in (D7, D2020):
        schema = parsed({"type": "object", "properties": {"schema": {"$ref": url}}})
        assert changes(schema, schema) == []


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"not": {"$ref": "#"}}])
def test_schemas_that_only_refer_to_themselves_are_compared(schema: dict[str, Any]):
    assert not any("CHANGED" in change for change in changes(parsed(schema), parsed(schema)))


def deep(levels: int, keyword: str = "not", *, innermost: Any = True) -> str:
    return f'{{"{keyword}":' * levels + json.dumps(innermost) + "}" * levels


@pytest.mark.parametrize("keyword", ["not", "additionalProperties", "items", "if", "contains"])
def test_the_deepest_schemas_are_compared(keyword: str):
    old, new = parsed(deep(199, keyword)), parsed(deep(199, keyword, innermost=False))
    assert FORMAT.differences(new, old) is not None
    assert old.canonical == deep(199, keyword).replace(" ", "")


def test_a_long_chain_of_references_is_compared():
    count = 5_000

    def chain(last: dict[str, Any]) -> JsonSchema:
        links = {f"d{at}": {"properties": {"n": {"$ref": f"#/definitions/d{at + 1}"}}} for at in range(count)}
        return parsed({"$ref": "#/definitions/d0", "definitions": {**links, f"d{count}": last}})

    (found,) = FORMAT.differences(chain(WHOLE), chain(TEXT))
    assert found.rule.name == "TYPE_CHANGED"
    assert found.path == "#" + "/properties/n" * count


def test_the_comparison_bounds_differences_that_references_multiply():
    def doubling(last: dict[str, Any]) -> JsonSchema:
        links = {
            f"d{at}": {
                "properties": {"l": {"$ref": f"#/definitions/d{at + 1}"}, "r": {"$ref": f"#/definitions/d{at + 1}"}}
            }
            for at in range(60)
        }
        return parsed({"$ref": "#/definitions/d0", "definitions": {**links, "d60": last}})

    found = FORMAT.differences(doubling(WHOLE), doubling(TEXT))
    assert len(found) == listing.MAX_FINDINGS
    assert {difference.rule.name for difference in found} == {"TYPE_CHANGED"}


def test_the_checker_stops_a_comparison_that_takes_too_long():
    alternatives = [{"pattern": f"p{at}"} for at in range(20)]
    with pytest.raises(TooMuchWork, match="too large to compare: it takes more than 2000 steps"):
        FORMAT.differences(parsed({"oneOf": alternatives}), parsed({"oneOf": alternatives[::-1]}), Budget(2000))


def test_alternatives_within_alternatives_are_read_once():
    schema: dict[str, Any] = {"enum": [f"value {at}" for at in range(100_000)]}
    for _ in range(90):
        schema = {"allOf": [schema, {}]}
    started = time.process_time()
    assert parsed(schema).canonical.startswith('{"allOf":[{"allOf":')
    assert time.process_time() - started < 2.0


def test_a_failure_in_a_cycle_fails_whatever_relied_on_it():
    def tree(value: dict[str, Any]) -> JsonSchema:
        return parsed(
            {
                "type": "object",
                "properties": {"first": {"$ref": "#/definitions/a"}, "second": {"$ref": "#/definitions/b"}},
                "definitions": {
                    "a": {"type": "object", "properties": {"b": {"$ref": "#/definitions/b"}, "v": value}},
                    "b": {"anyOf": [{"type": "null"}, {"$ref": "#/definitions/a"}]},
                },
            }
        )

    found = FORMAT.differences(tree(WHOLE), tree(TEXT))
    broken = {difference.path for difference in found if Policy.STRICT not in difference.rule.allowed}
    assert {"#/properties/first/properties/v", "#/properties/second"} <= broken


def test_a_cycle_may_break_under_one_policy_only():
    def tree(*names: str) -> JsonSchema:
        properties = {**dict.fromkeys(names, TEXT), "next": {"oneOf": [{"type": "null"}, {"$ref": "#/definitions/n"}]}}
        node = {"type": "object", "properties": properties, "additionalProperties": False}
        return parsed({"oneOf": [{"type": "null"}, {"$ref": "#/definitions/n"}], "definitions": {"n": node}})

    (found,) = FORMAT.differences(tree("a"), tree("a", "b"))
    assert found.rule.name == "COMBINED_TYPE_SUBSCHEMAS_CHANGED"
    assert found.rule.allowed == {Policy.LENIENT}
    (found,) = FORMAT.differences(tree("a", "b"), tree("a"))
    assert (found.rule.name, found.path) == (
        "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
        "#/oneOf/1/properties/b",
    )


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (("foo", "bar"), ("bar", "foo")),
        (("a", "b", "c"), ("a", "b", "c")),
        (("Aa", "BB"), ("Aa", "BB")),  # the same hash: in the order they came
        (("BB", "Aa"), ("BB", "Aa")),
        (("Q", "a"), ("Q", "a")),  # one place in a table of 16
        (("Q", *"abcdefghijkl"), tuple("abcdefghijklQ")),  # 13 names: a table of 32
    ],
)
def test_names_come_in_the_order_of_javas_hash_sets(names: tuple[str, ...], order: tuple[str, ...]):
    assert hash_order(names) == order


def largest(edges: list[list[int]]) -> int:
    """The size of a maximum matching of three with three, by trying all."""
    return max(sum(right in edges[left] for left, right in enumerate(rights)) for rights in permutations(range(3)))


@pytest.mark.parametrize("pattern", range(0, 512, 7))
def test_a_matching_is_a_largest_one(pattern: int):
    edges = [[right for right in range(3) if pattern >> (3 * left + right) & 1] for left in range(3)]
    pairs = maximum_matching(edges, 3)
    assert all(right in edges[left] for left, right in pairs)
    assert len({left for left, _ in pairs}) == len({right for _, right in pairs}) == len(pairs)
    assert len(pairs) == largest(edges)


def test_a_comparison_loads_no_validator():
    code = (
        "import sys; from compat.json_schema import FORMAT; from compat.schema import SchemaText;"
        'p = FORMAT.parse(SchemaText(\'JSON\', \'{"type":"object","properties":{"a":{}}}\'), (), False);'
        "FORMAT.differences(p, p);"
        "assert not {'jsonschema', 'jsonschema_rs', 'referencing'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
