"""`magicbyte check explain RULE`: every rule of every type, with an example that raises it.

`python -P tests/check/test_explain.py` picks the examples anew: for each rule the shortest golden case.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat.engine import Previous, check
from compat.formats import FORMATS, parse
from compat.level import LEVELS
from compat.schema import SchemaText
from magicbyte.check.rules import OTHERS, all_rules, examples, explain_rule
from tests.compat.witness_cases import GOLDEN, cases

FILE = Path(__file__).parents[2] / "magicbyte" / "cli" / "check" / "rule_examples.json"
#: The reference has these and raises them nowhere in its comparison of schemas.
NEVER_RAISED = {
    "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
    "RESERVED_PROPERTY_REMOVED",
    "RESERVED_PROPERTY_CONFLICTS_WITH_PROPERTY",
}


@pytest.mark.parametrize("name", sorted(set(all_rules()) - NEVER_RAISED))
def test_every_rule_is_explained(name: str):
    text = explain_rule(name)
    for schema_type, rule in all_rules()[name]:
        assert f"{name} ({schema_type}): " in text
        example = examples()[schema_type][name]
        assert example["before"].splitlines()[0] in text
        if not rule.allowed or name in FORMATS[schema_type].caution_rules:
            assert "  what changed: " in text


def test_the_text_of_a_rule():
    assert explain_rule("field-made-required") == (
        "FIELD_MADE_REQUIRED (PROTOBUF): a warning, an error with --strict\n"
        "\n"
        "Before:\n"
        '    syntax = "proto2";\n'
        "    message M {\n"
        "      optional string a = 1;\n"
        "    }\n"
        "\n"
        "After:\n"
        '    syntax = "proto2";\n'
        "    message M {\n"
        "      required string a = 1;\n"
        "    }\n"
        "\n"
        "warning: FIELD_MADE_REQUIRED at #/M/1\n"
        "  what changed: The field a is required in the new schema and need not be set in the old schema.\n"
        "  where:        new schema line 3, column 3; old schema line 3, column 3\n"
        "  who breaks:   readers with the new schema, on data written with the old schema\n"
        "  how:          A reader refuses messages that do not have it.\n"
        "  example:      {}\n"
        "  effect:       The reader refuses it: the required a is missing.\n"
        "  remedy:       Leave the field optional.\n"
        "  fix:          Keep the label optional\n"
    )


def test_the_command(project: Any):
    code, out, _ = project.run("check", "explain", "type_mismatch")
    assert (code, out.splitlines()[0]) == (0, "TYPE_MISMATCH (AVRO): an error")
    assert project.run("check", "explain", "BYTES_TO_STRING")[1].count("a warning, an error with --strict") == 2
    assert project.run("check", "explain", "LINT_DOCS")[1].startswith("LINT_DOCS\n  A lint rule")
    code, _, err = project.run("check", "explain", "TYPE_MISSMATCH")
    assert (code, err) == (1, "magicbyte: there is no rule TYPE_MISSMATCH; did you mean TYPE_MISMATCH?\n")


def test_every_rule_of_the_check_is_explained():
    text = (Path(__file__).parents[2] / "docs" / "check.md").read_text("utf-8")
    told = text.partition("| rule | means |")[2].partition("\n\n")[0]
    names = {part for part in told.replace("`", " ").replace(",", " ").split() if part.isupper() and "_" in part}
    assert names <= set(OTHERS)
    assert "CYCLIC_REFERENCE" in names


def _pairs(schema_type: str) -> list[tuple[str, Any, Any]]:
    """Golden cases in both directions, and those of cautions."""
    pairs = [(case.name, case.writer, case.reader) for case in cases(schema_type)]
    pairs += [(case.name, case.reader, case.writer) for case in cases(schema_type)]
    path = Path(__file__).parents[1] / "compat" / "cases" / "cautions" / GOLDEN[schema_type]
    for name, case in json.loads(path.read_text("utf-8")).items():
        pairs.append((name, *(parse(SchemaText(schema_type, case[side])) for side in ("old", "new"))))
    return pairs


def _imports(schema: Any) -> dict[str, str]:
    return {dependency.name: dependency.text for dependency in getattr(schema, "dependencies", ())}


def _pick() -> dict[str, Any]:
    picked: dict[str, dict[str, Any]] = {}
    for schema_type in GOLDEN:
        best = picked.setdefault(schema_type, {})
        for _, old, new in _pairs(schema_type):
            raised = {reason.rule for reason in check(new, [Previous(None, old)], LEVELS["BACKWARD"]).explained()}
            raised |= {difference.rule.name for difference in FORMATS[schema_type].differences(new, old)}
            example = {"level": "BACKWARD", "before": old.source, "after": new.source}
            example |= {f"{side}_imports": _imports(schema) for side, schema in (("before", old), ("after", new))}
            example = {key: value for key, value in example.items() if value}
            size = (len(raised), len(json.dumps(example)))
            for rule in raised:
                if rule in all_rules() and (rule not in best or size < best[rule][0]):
                    best[rule] = (size, example)
    return {
        schema_type: {rule: example for rule, (_, example) in sorted(best.items())}
        for schema_type, best in picked.items()
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(_pick(), indent=1, ensure_ascii=False) + "\n", "utf-8")
