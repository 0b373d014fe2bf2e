"""The checker's verdicts and the registry's are the same, over every golden case of the compatibility rules."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from compat.level import LEVELS
from compat.schema import AVRO, JSON, PROTOBUF, Reference, SchemaText
from magicbyte.check.baselines.lock import State, StateBaseline
from magicbyte.check.baselines.registry import registry_client
from magicbyte.check.checking import Checker
from magicbyte.check.config.config import Config, Entry
from magicbyte.check.project.files import SchemaFile
from magicbyte.check.project.tree import Tree

CASES = Path(__file__).parents[1] / "compat" / "cases"
DRAFTS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
RULE = re.compile(r"^\{errorType:['\"](\w+)['\"]")


@dataclass(frozen=True)
class Case:
    """Two schemas of a type, each with the texts that it refers to by name."""

    name: str
    schema_type: str
    old: str
    new: str
    old_imports: dict[str, str] = field(default_factory=dict)
    new_imports: dict[str, str] = field(default_factory=dict)


def cases() -> Iterator[Case]:
    for path in sorted((CASES / "avro").glob("*/*.json")):
        case = json.loads(path.read_text())
        name = f"avro.{path.parent.name}.{path.stem}"
        yield Case(name, AVRO, json.dumps(case["writer"]), json.dumps(case["reader"]))
    for path in sorted((CASES / "json_schema").glob("*.json")):
        for index, case in enumerate(json.loads(path.read_text())):
            for draft in case["drafts"]:
                old, new = (_in_draft(case[side], draft) for side in ("old", "new"))
                yield Case(f"json.{path.stem}.{index}.{draft}", JSON, old, new)
    for path in sorted((CASES / "protobuf").glob("*/*")):
        texts = [(path / f"{side}.proto").read_text() for side in ("writer", "reader")]
        imports = [
            {str(file.relative_to(root)): file.read_text() for file in sorted(root.glob("**/*.proto"))}
            for root in (path / "writer-imports", path / "reader-imports")
        ]
        yield Case(f"protobuf.{path.parent.name}.{path.name}", PROTOBUF, *texts, *imports)


def _in_draft(schema: Any, draft: str) -> str:
    return json.dumps({"$schema": DRAFTS[draft], **schema} if isinstance(schema, dict) else schema)


def tree_of(case: Case, side: str) -> Tree:
    text, imports = (case.old, case.old_imports) if side == "old" else (case.new, case.new_imports)
    entry = Entry(files="**")
    files = [
        SchemaFile(path, f"{case.name}.{side}.{path}", case.schema_type, imported, entry)
        for path, imported in imports.items()
    ]
    return Tree([SchemaFile("the schema", case.name, case.schema_type, text, entry), *files])


def references(tree: Tree, file: SchemaFile) -> tuple[Reference, ...]:
    return tuple(Reference(target.name, target.file.subject, 1) for target in tree.targets(file) if target.file)


@pytest.mark.slow
def test_the_registry_and_the_checker_agree(own_registry: str):
    every = list(cases())
    assert len(every) > 500
    with registry_client({"url": own_registry}) as client:
        client.put_config({"compatibility": "NONE"})
        held: dict[str, dict[int, SchemaText]] = {}
        for case in every:
            for side in ("new", "old"):
                tree = tree_of(case, side)
                for file in tree.order()[0]:
                    if side == "old" or file.subject != case.name:
                        schema = SchemaText(file.schema_type, file.text, references(tree, file))
                        client.register(file.subject, schema)
                        held[file.subject] = {1: schema}
        baseline = StateBaseline("the registry", State(held))
        # The other direction in one draft of each JSON case is enough: the drafts differ in what they have to compare.
        other = [case for case in every if not case.name.endswith(tuple(DRAFTS)) or case.name.endswith("draft-07")]
        for level, compared in (("BACKWARD", every), ("FORWARD_TRANSITIVE", other)):
            client.put_config({"compatibility": level})
            config = Config(level=LEVELS[level])
            for case in compared:
                tree = tree_of(case, "new")
                schema = SchemaText(case.schema_type, case.new, references(tree, tree.files[0]))
                verdict = client.check_compatibility(case.name, schema)
                report = Checker(config, tree, baseline).run(["the schema"], today=dt.date(2026, 1, 1))
                assert report.failed == (not verdict.compatible), (level, case.name)
                told = {match[1] for message in verdict.messages if (match := RULE.match(message))}
                errors = (finding for finding in report.findings if finding.severity == "error")
                assert {finding.rule for finding in errors} == told, (level, case.name)


@pytest.mark.parametrize("name", ["avro", "json", "protobuf"])
def test_every_type_has_its_cases(name: str):
    assert sum(case.name.startswith(name) for case in cases()) > 20
