"""`--fix` and `--fix=ask`: files are changed, the check passes, and nothing else in the files moves."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest

AVRO = '{"type": "record", "name": "n.R", "fields": [\r\n  {"name": "f", "type": "string"}%s\r\n]}\r\n'
PROTO = 'syntax = "proto3";\npackage p;\nmessage M {\n  // why\n  %s a = 1;\n}\n'
JSON = (
    '{\n  "$schema": "http://json-schema.org/draft-07/schema#",\n  "type": "object",\n'
    '  "properties": {"a": {}},\n  "required": [%s]\n}\n'
)


@pytest.fixture
def broken(project: Any) -> Any:
    project.write("r.avsc", AVRO % "")
    project.write("m.proto", PROTO % "int32")
    project.write("j.schema.json", JSON % "")
    project.commit()
    (project.folder / "r.avsc").write_bytes((AVRO % ',\r\n  {"name": "g", "doc": "é", "type": "long"}').encode())
    project.write("m.proto", PROTO % "string")
    project.write("j.schema.json", JSON % '"a"')
    return project


def test_fix_removes_the_break(broken: Any):
    assert broken.places()[0] == 100
    code, out, _ = broken.run("check", "--fix")
    assert code == 0, out
    assert (broken.folder / "r.avsc").read_bytes().decode() == AVRO % (
        ',\r\n  {"name": "g", "doc": "é", "type": ["null", "long"], "default": null}'
    )
    assert (broken.folder / "m.proto").read_text() == PROTO % "int32"
    assert "note: m.proto: FIELD_SCALAR_KIND_CHANGED: Keep the type\n" in out
    assert out.endswith("3 schemas checked, 0 findings\n")


def test_a_named_file_is_no_value_of_the_option(broken: Any):
    code, out, _ = broken.run("check", "--fix", "m.proto")
    assert code == 0, out
    assert (broken.folder / "m.proto").read_text() == PROTO % "int32"
    assert "é" in (broken.folder / "r.avsc").read_text()
    assert "default" not in (broken.folder / "r.avsc").read_text()


def test_ask_applies_the_chosen_fixes(broken: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\nx\n2\n2\n"))
    code, out, _ = broken.run("check", "--fix=ask")
    assert code == 100
    assert "Give the field the number 2, and reserve 1" in out
    assert (broken.folder / "m.proto").read_text() == (
        'syntax = "proto3";\npackage p;\nmessage M {\n  reserved 1;\n  // why\n  string a = 2;\n}\n'
    )
    assert '"default": 0}' in (broken.folder / "r.avsc").read_text()
    assert "note: r.avsc: READER_FIELD_MISSING_DEFAULT_VALUE: Add the default 0\n" in out
    assert (broken.folder / "j.schema.json").read_text() == JSON % '"a"'


def test_ask_stops_where_the_user_does(broken: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert broken.run("check", "--fix=ask")[0] == 100
    assert (broken.folder / "m.proto").read_text() == PROTO % "string"


def test_ask_applies_the_fixes_chosen_before_the_stop(project: Any, monkeypatch: pytest.MonkeyPatch):
    project.write("m.proto", 'syntax = "proto3";\nmessage M {\n  int32 a = 1;\n  int32 b = 2;\n}\n')
    project.commit()
    project.write("m.proto", 'syntax = "proto3";\nmessage M {\n  string a = 1;\n  string b = 2;\n}\n')
    monkeypatch.setattr("sys.stdin", io.StringIO("1\nq\n"))
    code, out, _ = project.run("check", "--fix=ask")
    assert code == 100
    assert (project.folder / "m.proto").read_text() == (
        'syntax = "proto3";\nmessage M {\n  int32 a = 1;\n  string b = 2;\n}\n'
    )
    assert "note: m.proto: FIELD_SCALAR_KIND_CHANGED: Keep the type\n" in out
    assert out.endswith("1 schema checked, 1 finding\n")


def test_sarif_carries_the_fixes(broken: Any):
    (run,) = json.loads(broken.run("check", "--format", "sarif")[1])["runs"]
    fixes = {result["ruleId"]: result["fixes"] for result in run["results"]}
    (change,) = fixes["FIELD_SCALAR_KIND_CHANGED"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    text = PROTO % "string"
    assert replacement == {
        "deletedRegion": {"charOffset": text.index("string"), "charLength": 6},
        "insertedContent": {"text": "int32"},
    }


def test_a_container_file_is_left_alone(project: Any):
    def write(kind: str) -> None:
        schema = fastavro.parse_schema({"type": "record", "name": "R", "fields": [{"name": "f", "type": kind}]})
        with (project.folder / "data.avro").open("wb") as file:
            fastavro.writer(file, schema, [{"f": 1 if kind == "int" else "a"}])

    write("string")
    project.commit()
    write("int")
    before = (project.folder / "data.avro").read_bytes()
    code, findings = project.check("--fix")
    assert (code, [(finding["rule"], finding["fixes"]) for finding in findings]) == (100, [("TYPE_MISMATCH", [])])
    assert (project.folder / "data.avro").read_bytes() == before


def test_a_wrong_way_to_fix_is_a_wrong_call(broken: Any):
    with pytest.raises(SystemExit) as stopped:
        broken.run("check", "--fix=some")
    assert stopped.value.code == 2


def fixes_of(finding: dict[str, Any]) -> list[str]:
    return [fix["title"] for fix in finding["fixes"]]


def test_check_offers_no_fix_that_breaks_another_file(project: Any):
    order = 'syntax = "proto3";\npackage %s;\nmessage Order {\n  int32 id = 1;\n}\n'
    user = 'syntax = "proto3";\nimport "order.proto";\nmessage Basket {\n  %s.Order order = 1;\n}\n'
    project.write("order.proto", order % "shop")
    project.write("basket.proto", user % "shop")
    project.commit()
    project.write("order.proto", order % "store")
    findings = project.check()[1]
    assert [(finding["file"], finding["rule"]) for finding in findings] == [
        ("basket.proto", "INVALID_SCHEMA"),
        ("order.proto", "PACKAGE_CHANGED"),
    ]
    # The edit mends the other file as well.
    assert fixes_of(findings[1]) == ["Keep package shop;"]
    project.write("basket.proto", user % "store")
    (finding,) = [finding for finding in project.check()[1] if finding["rule"] == "PACKAGE_CHANGED"]
    assert (finding["file"], fixes_of(finding)) == ("order.proto", [])


def test_check_offers_no_fix_that_breaks_with_an_older_version(project: Any):
    record = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "%s"}]}\n'
    for kind in ("int", "string"):
        project.write("r.avsc", record % kind)
        project.commit()
    project.write("r.avsc", (record % "long").replace('"R",', '"R", "doc": "now",'))
    (finding,) = project.check("--compatibility", "BACKWARD")[1]
    assert fixes_of(finding) == ["Read both types, by a union", "Keep the type"]
    (finding,) = project.check("--compatibility", "BACKWARD_TRANSITIVE")[1]
    assert fixes_of(finding) == ["Read both types, by a union"]


def test_fixes_that_conflict_are_applied_one_after_another(project: Any):
    project.write("m.proto", 'syntax = "proto3";\nmessage M {\n  int32 a = 1;\n  int32 b = 2;\n  int32 c = 3;\n}\n')
    project.commit()
    project.write("m.proto", 'syntax = "proto3";\nmessage M {\n  string d = 1;\n  string e = 2;\n  int32 c = 3;\n}\n')
    code, out, _ = project.run("check", "--fix")
    assert code == 0, out
    assert (project.folder / "m.proto").read_text() == (
        'syntax = "proto3";\nmessage M {\n  reserved 2;\n  reserved "b";\n  reserved 1;\n  reserved "a";\n'
        "  string d = 4;\n  string e = 5;\n  int32 c = 3;\n}\n"
    )
    assert (
        "note: m.proto: FIELD_SCALAR_KIND_CHANGED: Give the field the number 5, and reserve 2 and the name b\n" in out
    )


def test_a_fix_keeps_the_line_breaks_of_the_file(project: Any):
    old = 'syntax = "proto3";\r\nmessage M {\r\n  string a = 1;\r\n  string b = 2;\r\n}\r\n'
    (project.folder / "m.proto").write_bytes(old.encode())
    project.commit()
    (project.folder / "m.proto").write_bytes(old.replace("  string b = 2;\r\n", "").encode())
    assert project.run("check", "--fix")[0] == 0
    assert (project.folder / "m.proto").read_bytes().decode() == (
        'syntax = "proto3";\r\nmessage M {\r\n  reserved 2;\r\n  reserved "b";\r\n  string a = 1;\r\n}\r\n'
    )
