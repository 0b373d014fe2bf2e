"""Whatever stands in a file, a check ends with findings in it or without, and never with a traceback."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from magicbyte.check.baselines.folder import FolderBaseline
from magicbyte.check.checking import Checker
from magicbyte.check.config.config import LINT_RULES, Config, Lint
from magicbyte.check.findings import ERROR, WARNING
from magicbyte.check.outputs import FORMATS, renderer
from magicbyte.check.project.files import working_files
from magicbyte.check.project.tree import Tree

TEXTS = {
    "a.avsc": """{"type": "record", "name": "n.A", "fields": [
  {"name": "b", "type": ["null", "n.B", {"type": "map", "values":
    {"type": "enum", "name": "E", "symbols": ["X", "Y"]}}],
   "default": null, "doc": "\u00e9"}
]}""",
    "b.avsc": '{"type": "record", "name": "n.B", "aliases": ["C"], "fields": [{"name": "f", "type": "int"}]}',
    "a.schema.json": '{"$id": "http://x", "properties": {"p": {"$ref": "b.schema.json#/definitions/d"}}, "items": {}}',
    "b.schema.json": '{"definitions": {"d": {"type": ["string", "null"], "enum": [1, "x"]}}, "required": ["p"]}',
    "a.proto": """syntax = "proto3";
package p;
import "b.proto";
message A { reserved 2 to 4; B b = 1; oneof o { int32 c = 5; } }""",
    "b.proto": """syntax = "proto2";
package p;
message B { optional string s = 1 [default = "x"]; enum E { Z = 0; } }""",
}
#: What is put in, at some place, for some characters.
PIECES = st.sampled_from(
    ['"', "{", "}", "[", "]", ",", ":", "null", "1e999", '"type"', "n.A", "", "\\", "\x00", "\ufeff", "/*", "-1"]
)


@pytest.mark.parametrize("file", TEXTS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_text_ends_in_findings_at_places_that_exist(file: str, data: st.DataObject):
    text = TEXTS[file]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        text = text[:start] + data.draw(PIECES) + text[start + data.draw(st.integers(0, 12)) :]
    with tempfile.TemporaryDirectory() as place:
        old, new = Path(place, "old"), Path(place, "new")
        for folder, changed in ((old, {}), (new, {file: text})):
            folder.mkdir()
            for name, content in (TEXTS | changed).items():
                (folder / name).write_bytes(content.encode())
        # One type at a time: a.avsc, a.schema.json and a.proto would share a subject.
        others = tuple(name for name in TEXTS if not name.endswith(file[1:]))
        config = Config(root=new, lint=Lint(rules=LINT_RULES), exclude=others)
        files, findings = working_files(config)
        baseline = FolderBaseline(old, config, "old")
        report = Checker(config, Tree(files), baseline).run(today=dt.date(2026, 1, 1), prior=findings)
        for finding in report.findings:
            lines = (new / finding.file).read_text().split("\n")
            assert 1 <= finding.position.line <= len(lines)
            assert 1 <= finding.position.column <= len(lines[finding.position.line - 1]) + 1
            assert finding.message
            assert finding.severity in (ERROR, WARNING)
        for form in FORMATS:
            renderer(form)(report)
