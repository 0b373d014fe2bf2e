"""Every rule of the JSON Schema comparison, in every draft that has the keyword, in both directions.

A case file is named after its rule. A case has the drafts it holds in, the old and the new schema (without `$schema`),
all changes in order, and the messages that break under each policy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compat.difference import Difference
from compat.json_schema import FORMAT, JsonSchema
from compat.level import Policy
from compat.schema import JSON, SchemaText

CASES = Path(__file__).parents[1] / "cases" / "json_schema"
DRAFTS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
#: The reference has these, and raises them nowhere in its comparison of schemas.
NEVER_RAISED = {
    "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
    "RESERVED_PROPERTY_REMOVED",
    "RESERVED_PROPERTY_CONFLICTS_WITH_PROPERTY",
}


def parsed(schema: Any, draft: str) -> JsonSchema:
    text = json.dumps({"$schema": DRAFTS[draft], **schema} if isinstance(schema, dict) else schema)
    found = FORMAT.parse(SchemaText(JSON, text), (), True)
    assert isinstance(found, JsonSchema)
    return found


def cases() -> Iterator[Any]:
    for path in sorted(CASES.glob("*.json")):
        for index, case in enumerate(json.loads(path.read_text())):
            for draft in case["drafts"]:
                yield pytest.param(path.stem, case, draft, id=f"{path.stem}-{index}-{draft}")


#: The second implementation, which the witnesses were not made with.
JUDGES: dict[str, Any] = {
    "draft-04": jsonschema.Draft4Validator,
    "draft-06": jsonschema.Draft6Validator,
    "draft-07": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}


def example(difference: Difference, reader: JsonSchema, writer: JsonSchema) -> str | None:
    shown = FORMAT.witness(difference, reader, writer)
    return None if shown is None else shown.example


def breaking(found: list[Difference], policy: Policy) -> list[str]:
    return [FORMAT.message(difference, "new", "old") for difference in found if policy not in difference.rule.allowed]


@pytest.mark.parametrize(("rule", "case", "draft"), list(cases()))
def test_golden_case(rule: str, case: dict[str, Any], draft: str):
    reader, writer = parsed(case["new"], draft), parsed(case["old"], draft)
    found = FORMAT.differences(reader, writer)
    assert [f"{difference.rule.name} {difference.path}" for difference in found] == case["changes"]
    assert breaking(found, Policy.STRICT) == case["strict"]
    assert breaking(found, Policy.LENIENT) == case["lenient"]
    for difference in found:
        for schema, pointer in ((reader, difference.reader_at), (writer, difference.writer_at)):
            assert pointer is None or FORMAT.locate(schema, pointer) is not None
        if Policy.STRICT not in difference.rule.allowed and (shown := example(difference, reader, writer)) is not None:
            assert JUDGES[draft](json.loads(writer.source)).is_valid(json.loads(shown))
            assert not JUDGES[draft](json.loads(reader.source)).is_valid(json.loads(shown))


def test_some_case_raises_every_rule():
    raised = {
        path.stem
        for path in CASES.glob("*.json")
        if any(change.split()[0] == path.stem for case in json.loads(path.read_text()) for change in case["changes"])
    }
    assert raised == set(FORMAT.rules) - NEVER_RAISED


def test_every_rule_that_breaks_explains_itself():
    for rule in FORMAT.rules.values():
        explained = bool(rule.harm and rule.remedy and (rule.change or rule.description))
        assert explained == (rule.allowed != set(Policy)), rule.name


#: Rules whose breaks need no instance to exist: two texts may differ and accept the same.
WITHOUT_EXAMPLE = {"COMBINED_TYPE_SUBSCHEMAS_CHANGED", "COMBINED_TYPE_CHANGED"}


def test_every_breaking_rule_has_a_case_with_an_example():
    shown, broken = set(), set()
    for path in CASES.glob("*.json"):
        for case in json.loads(path.read_text()):
            reader, writer = parsed(case["new"], case["drafts"][0]), parsed(case["old"], case["drafts"][0])
            for difference in FORMAT.differences(reader, writer):
                if Policy.STRICT not in difference.rule.allowed:
                    broken.add(difference.rule.name)
                    if example(difference, reader, writer) is not None:
                        shown.add(difference.rule.name)
    assert broken - shown <= WITHOUT_EXAMPLE


def test_the_documentation_lists_every_rule_with_its_cases():
    text = (Path(__file__).parents[3] / "docs" / "compat-json-schema.md").read_text()
    words = {frozenset(Policy): "yes", frozenset({Policy.LENIENT}): "LENIENT", frozenset(): "no"}
    for rule in FORMAT.rules.values():
        assert f"| `{rule.name}` | {words[rule.allowed]} |" in text
        assert (rule.name in NEVER_RAISED) == (f"json_schema/{rule.name}.json" not in text)
