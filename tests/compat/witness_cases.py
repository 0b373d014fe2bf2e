"""The golden cases of all rules, in both directions of each type, and what is shown for each break."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compat.engine import Previous, Verdict, check
from compat.formats import parse
from compat.level import LEVELS
from compat.schema import AVRO, JSON, PROTOBUF, Dependency, ParsedSchema, SchemaText

CASES = Path(__file__).parent / "cases"
#: The file of expectations for each type, beside the cases.
GOLDEN = {AVRO: "avro.json", JSON: "json_schema.json", PROTOBUF: "protobuf.json"}
#: The drafts that cases are read in, the preferred one first.
DRAFTS = {
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft-06": "http://json-schema.org/draft-06/schema#",
}


@dataclass(frozen=True)
class Case:
    """A writer and a reader schema."""

    name: str
    writer: ParsedSchema
    reader: ParsedSchema

    def verdict(self) -> Verdict:
        return check(self.reader, [Previous(None, self.writer)], LEVELS["BACKWARD"])


def cases(schema_type: str) -> Iterator[Case]:
    return _READ[schema_type]()


def _avro() -> Iterator[Case]:
    for path in sorted((CASES / "avro").glob("*/*.json")):
        case = json.loads(path.read_text("utf-8"))
        writer, reader = (_parsed(AVRO, json.dumps(case[side], indent=2)) for side in ("writer", "reader"))
        yield Case(f"{path.parent.name}/{path.stem}", writer, reader)


def _json() -> Iterator[Case]:
    for path in sorted((CASES / "json_schema").glob("*.json")):
        for index, case in enumerate(json.loads(path.read_text("utf-8"))):
            url = next(DRAFTS[draft] for draft in DRAFTS if draft in case["drafts"])
            writer, reader = (_parsed(JSON, _drafted(case[side], url)) for side in ("old", "new"))
            yield Case(f"{path.stem}/{index}", writer, reader)


def _drafted(schema: Any, url: str) -> str:
    return json.dumps({"$schema": url, **schema} if isinstance(schema, dict) else schema, indent=2)


def _protobuf() -> Iterator[Case]:
    for path in sorted((CASES / "protobuf").glob("*/*")):
        writer, reader = (_parsed_file(path, side) for side in ("writer", "reader"))
        yield Case(f"{path.parent.name}/{path.name}", writer, reader)


def _parsed_file(path: Path, side: str) -> ParsedSchema:
    root = path / f"{side}-imports"
    dependencies = tuple(
        Dependency(str(file.relative_to(root)), file.read_text()) for file in sorted(root.glob("**/*.proto"))
    )
    return parse(SchemaText(PROTOBUF, (path / f"{side}.proto").read_text()), dependencies, strict=True)


def _parsed(schema_type: str, text: str) -> ParsedSchema:
    return parse(SchemaText(schema_type, text), strict=True)


_READ = {AVRO: _avro, JSON: _json, PROTOBUF: _protobuf}
