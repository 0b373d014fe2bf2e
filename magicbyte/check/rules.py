"""`magicbyte check explain RULE`: explains a rule, with an example before and after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from compat.contracts.findings.table import CHECKS
from compat.difference import Rule
from compat.engine import Previous, check
from compat.formats import FORMATS, parse
from compat.level import LEVELS, Policy
from compat.schema import Dependency, ParsedSchema, SchemaText
from magicbyte.check.checking_rules import rule_name
from magicbyte.kit.failure import Failure
from magicbyte.kit.settings.place import nearest

#: The rules of the check itself.
OTHERS = {
    "INVALID_SCHEMA": "The file is not UTF-8, not JSON or not a schema; the registry would answer 42201.",
    "DANGLING_REFERENCE": "Nothing defines what the schema mentions; a warning if a Protobuf file uses nothing of it.",
    "CYCLIC_REFERENCE": "Files refer to each other in a circle, which no registry can hold.",
    "DUPLICATE_SUBJECT": "Two files are for one subject.",
    "RESERVED_FIELD": "A field that the subject's metadata reserves; the registry's config has validateFields.",
    "MISSING_IMPORT": "A warning: a Protobuf file uses a type of a file that it does not import; protoc refuses that.",
    "MISSING_DOT": "A warning: a package hides a full name in a Protobuf file; protoc refuses that.",
    "UNDECLARED_OPTION": "A warning: no file declares an option of a Protobuf file; protoc refuses that.",
    "LINT_DOCS": "A lint rule: something has no documentation.",
    "LINT_NAMES": "A lint rule: a name is out of style, or there is no namespace, package or title.",
    "LINT_DEFAULTS": "A lint rule: a nullable field or an enum has no default, or a Protobuf enum no unspecified zero.",
    "LINT_RESERVED": "A lint rule: a Protobuf number or name was given up and is not reserved.",
    "SCHEMA_TYPE_CHANGED": "The schema is of another type than the version before.",
    "NOT_COMPARABLE": "The two schemas cannot be compared: one cannot be read, or the comparison takes too much work.",
    "NOT_EXAMINED": "A warning: the rules find the schemas compatible, but the search for other breaks ended early.",
}
OTHERS |= {rule_name(code): f"About the rules of a schema: {description}." for code, description in CHECKS.items()}
_JUDGED = {True: "a warning, an error with --strict", False: "an error"}


def explain_rule(name: str) -> str:
    """The explanation of a rule, for every schema type that has it.

    Raises:
        Failure: There is no such rule.
    """
    rule_name = name.upper().replace("-", "_")
    if rule_name in OTHERS:
        return f"{rule_name}\n  {OTHERS[rule_name]}\n"
    parts = [part for schema_type in FORMATS for part in _of_type(rule_name, schema_type)]
    if not parts:
        raise Failure(f"there is no rule {name}{nearest(rule_name, [*all_rules(), *OTHERS])}")
    return "\n".join(parts)


def all_rules() -> dict[str, list[tuple[str, Rule]]]:
    """All compatibility rules and cautions by name, with the schema types that have them."""
    rules: dict[str, list[tuple[str, Rule]]] = {}
    for schema_type, schema_format in FORMATS.items():
        for rule in (*schema_format.rules.values(), *schema_format.caution_rules.values()):
            rules.setdefault(rule.name, []).append((schema_type, rule))
    return rules


def _of_type(name: str, schema_type: str) -> Iterator[str]:
    schema_format = FORMATS[schema_type]
    rule = schema_format.rules.get(name) or schema_format.caution_rules.get(name)
    if rule is None:
        return
    is_caution = name in schema_format.caution_rules
    judged = _JUDGED[True] if is_caution else _allowed(rule)
    lines = [f"{name} ({schema_type}): {judged}", ""]
    example = examples().get(schema_type, {}).get(name)
    if example is not None:
        lines += ["Before:", *_indented(example["before"]), "", "After:", *_indented(example["after"]), ""]
        lines += _finding_texts(name, schema_type, example)
    yield "\n".join(lines).rstrip() + "\n"


def _allowed(rule: Rule) -> str:
    if not rule.allowed:
        return "an error"
    return "compatible" if rule.allowed == set(Policy) else "an error, compatible under the policy LENIENT"


def _indented(text: str) -> Iterator[str]:
    return (f"    {line}" for line in text.splitlines())


def _finding_texts(name: str, schema_type: str, example: dict[str, Any]) -> Iterator[str]:
    """The findings of the check for an example."""
    old, new = (_parsed(schema_type, example, side) for side in ("before", "after"))
    explained = check(new, [Previous(None, old)], LEVELS[example["level"]]).explained()
    yield from [reason.to_text() for reason in explained if reason.rule == name][:1]


def _parsed(schema_type: str, example: dict[str, Any], side: str) -> ParsedSchema:
    imports = example.get(f"{side}_imports", {})
    dependencies = tuple(Dependency(path, text) for path, text in imports.items())
    return parse(SchemaText(schema_type, example[side]), dependencies)


def examples() -> dict[str, dict[str, dict[str, Any]]]:
    """The examples of each rule by schema type: `before`, `after`, the `level` that they break, and imported files."""
    text = files("magicbyte.check").joinpath("rule_examples.json").read_text("utf-8")
    picked: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return picked
