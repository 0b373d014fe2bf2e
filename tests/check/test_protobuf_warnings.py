"""Protobuf files that the registry accepts and protoc refuses: warnings, and nothing that stops a pull request."""

from __future__ import annotations

from typing import Any

import pytest

from serdes.client.clients import RegistryClient

P3 = 'syntax = "proto3";\n'
B = P3 + "package b;\nmessage B { int32 x = 1; }\n"
REFERENCE = '[[subjects]]\nfile = "a.proto"\nreferences = [{name = "b.proto", file = "b.proto"}]\n'


@pytest.mark.parametrize(
    ("text", "config", "expected"),
    [
        (P3 + 'option (mine) = "x";\n', "", ["a.proto:2:8 UNDECLARED_OPTION"]),
        (
            P3 + 'import "buf/validate/validate.proto";\n'
            "message M {\n  string s = 1 [(buf.validate.field).required = true];\n}",
            "",
            ["a.proto:2:1 DANGLING_REFERENCE", "a.proto:4:17 UNDECLARED_OPTION"],
        ),
        (P3 + "message M {\n  b.B b = 1;\n}", REFERENCE, ["a.proto:3:3 MISSING_IMPORT"]),
        (
            P3 + 'package io.confluent.x;\nimport "confluent/meta.proto";\n'
            'message M {\n  string s = 1 [(confluent.field_meta).doc = "d"];\n}',
            "",
            ["a.proto:5:17 MISSING_DOT"],
        ),
    ],
)
def test_accepted_protobuf_faults_are_warnings(project: Any, text: str, config: str, expected: list[str]):
    project.write("a.proto", text)
    project.write("b.proto", B)
    project.write("magicbyte.toml", config)
    code, findings = project.check("--against", "none")
    assert code == 0
    assert [
        f"{finding['file']}:{finding['line']}:{finding['column']} {finding['rule']}" for finding in findings
    ] == expected
    assert {finding["severity"] for finding in findings} == {"warning"}


def test_protobuf_warnings_have_a_remedy(project: Any):
    project.write("a.proto", P3 + "message M {\n  google.protobuf.Timestamp at = 1;\n}")
    code, out, _ = project.run("check", "--against", "none")
    assert code == 0
    assert out == (
        'a.proto:3:3: warning: MISSING_IMPORT (a): "google.protobuf.Timestamp" is declared in '
        '"google/protobuf/timestamp.proto", which is not imported.\n'
        '    fix:     Add `import "google/protobuf/timestamp.proto";`.\n'
        "note: nothing was compared: schemas were only read\n"
        "1 schema checked, 0 findings, 1 warning\n"
    )


def test_a_type_that_nothing_defines_is_an_error(project: Any):
    project.write("a.proto", P3 + "message M {\n  b.C c = 1;\n}")
    project.write("b.proto", B)
    project.write("magicbyte.toml", REFERENCE)
    assert project.places("--against", "none") == (100, ["a.proto:3:3 INVALID_SCHEMA"])


def test_check_keeps_a_configured_reference_only_if_the_schema_uses_its_types(project: Any, own_registry: str):
    project.write(
        "magicbyte.toml",
        f'registry = "{own_registry}"\n' + REFERENCE.replace("file =", "files =", 1).replace("a.proto", "?.proto"),
    )
    project.write("a.proto", P3 + "message A { b.B b = 1; }")
    project.write("b.proto", B)
    project.write("c.proto", P3 + "message C { int32 b = 1; }")
    code, out, err = project.run("register")
    assert (code, err) == (0, ""), out
    with RegistryClient(own_registry) as client:
        assert [reference.name for reference in client.version("a").schema.references] == ["b.proto"]
        assert client.version("c").schema.references == ()
