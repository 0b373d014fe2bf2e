"""The contents of baselines: git's history, folders, files, lock files and registries; and the level that holds."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from compat.schema import AVRO, JSON, PROTOBUF, Reference, SchemaText
from serdes.client.clients import RegistryClient


def customer(*fields: str) -> str:
    lines = ",\n".join(f"    {field}" for field in fields)
    return f'{{\n  "type": "record", "name": "Customer",\n  "fields": [\n{lines}\n  ]\n}}\n'


NAME = '{"name": "name", "type": "string"}'
PHONE = '{"name": "phone", "type": "int", "default": 0}'
PHONE_TEXT = '{"name": "phone", "type": "string", "default": ""}'


def three_versions(project: Any) -> None:
    """Phone as a number, then without, then as text: only the first and the last do not go together."""
    project.write("customer.avsc", customer(NAME, PHONE))
    project.commit()
    project.write("customer.avsc", customer(NAME))
    project.commit()
    project.git("checkout", "-q", "-b", "work")
    project.write("customer.avsc", customer(NAME, PHONE_TEXT))
    project.commit()


@pytest.mark.parametrize(
    ("level", "expected"),
    [("BACKWARD", []), ("FULL", []), ("BACKWARD_TRANSITIVE", ["customer.avsc:5:23 TYPE_MISMATCH"]), ("NONE", [])],
)
def test_transitive_levels_see_every_version_in_the_history(project: Any, level: str, expected: list[str]):
    three_versions(project)
    code, places = project.places("--against", "git:main", "--compatibility", level)
    assert (code, places) == (100 if expected else 0, expected)


def test_the_history_goes_through_renames_and_merges(project: Any):
    project.write("old/customer.avsc", customer(NAME, PHONE))
    project.commit()
    project.git("mv", "old", "new")
    project.commit()
    project.git("checkout", "-q", "-b", "removal")
    project.write("new/customer.avsc", customer(NAME))
    project.commit()
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "--no-ff", "-m", "merge", "removal")
    project.write("new/customer.avsc", customer(NAME, PHONE_TEXT))
    code, findings = project.check("--against", "git:main", "--compatibility", "BACKWARD_TRANSITIVE")
    assert code == 100
    assert [finding["rule"] for finding in findings] == ["TYPE_MISMATCH"]


def test_check_ignores_commits_on_main_after_the_branch_point(project: Any):
    project.write("customer.avsc", customer(NAME))
    project.commit()
    project.git("checkout", "-q", "-b", "work")
    project.git("checkout", "-q", "main")
    project.write("customer.avsc", customer(NAME, PHONE))
    project.commit()
    project.git("checkout", "-q", "work")
    project.write("customer.avsc", customer(NAME, PHONE_TEXT))
    assert project.places("--against", "git:main") == (0, [])


def test_a_moved_file_keeps_its_subject(project: Any):
    project.write("a/customer.avsc", customer(NAME))
    project.commit()
    project.git("mv", "a", "b")
    project.write("b/customer.avsc", customer(NAME.replace("string", "int")))
    code, findings = project.check("--against", "git:main")
    assert (code, findings[0]["file"], findings[0]["version"][:5]) == (100, "b/customer.avsc", "main ")


def test_check_reads_references_from_the_commit_of_the_schema(project: Any):
    """Both files change in each commit; every pair that was together fits, and others would not even parse."""
    project.write("a.avsc", '{"type": "record", "name": "A", "fields": [{"name": "b", "type": "B1"}]}')
    project.write("b.avsc", '{"type": "record", "name": "B1", "fields": []}')
    project.commit()
    project.write("a.avsc", '{"type": "record", "name": "A", "fields": [{"name": "b", "type": "n.B1"}]}')
    project.write("b.avsc", '{"type": "record", "name": "n.B1", "fields": []}')
    project.commit()
    project.write("a.avsc", '{"type": "record", "name": "A", "fields": [{"name": "b", "type": "m.B1"}]}')
    project.write("b.avsc", '{"type": "record", "name": "m.B1", "fields": []}')
    assert project.places("--compatibility", "FULL_TRANSITIVE") == (0, [])


def test_a_folder_within_the_repository_is_a_project(project: Any, monkeypatch: pytest.MonkeyPatch):
    project.write("service/customer.avsc", customer(NAME))
    project.commit()
    project.write("service/customer.avsc", customer(NAME.replace("string", "int")))
    monkeypatch.chdir(project.folder / "service")
    code, out, _ = project.run("check", "--format", "github")
    assert code == 100
    assert out.startswith("::error file=service/customer.avsc,line=4,")


def test_check_reports_only_the_named_files(project: Any):
    project.write("a.avsc", customer(NAME))
    project.write("b.avsc", customer(NAME).replace("Customer", "B"))
    project.commit()
    for name in ("a", "b"):
        project.edit(f"{name}.avsc", "string", "int")
    project.write("c/c.avsc", "{")
    assert project.places("c") == (100, ["c/c.avsc:1:2 INVALID_SCHEMA"])
    (project.folder / "d").mkdir()
    assert project.places("d") == (0, [])
    assert project.places("b.avsc") == (100, ["b.avsc:4:22 TYPE_MISMATCH"])


def test_a_folder_and_a_file_as_baselines(project: Any):
    project.write("../old/customer.avsc", customer(NAME))
    project.write("customer.avsc", customer(NAME.replace("string", "int")))
    expected = (100, ["customer.avsc:4:22 TYPE_MISMATCH"])
    assert project.places("--against", "../old") == expected
    assert project.places("--against", "folder:../old") == expected
    assert project.places("customer.avsc", "--against", "../old/customer.avsc") == expected
    assert project.check("--against", "../old")[1][0]["version"] == "../old"
    out = project.run("check", "--against", "../old", "--compatibility", "full_transitive")[1]
    assert "levels cannot be transitive" in out


def lock(**subjects: Any) -> str:
    return json.dumps({"format": 1, "compatibility": "FULL", "subjects": subjects})


def versions(*texts: str) -> list[dict[str, Any]]:
    return [{"version": number, "schema": text} for number, text in enumerate(texts, 1)]


def test_a_lock_file_has_all_versions_and_the_levels(project: Any):
    held = {"compatibility": "BACKWARD_TRANSITIVE", "versions": versions(customer(NAME, PHONE), customer(NAME))}
    project.write("schemas.lock.json", lock(customer=held))
    project.write("customer.avsc", customer(NAME, PHONE_TEXT))
    code, (finding,) = project.check("--against", "schemas.lock.json")
    assert (code, finding["rule"], finding["version"]) == (100, "TYPE_MISMATCH", "version 1")
    # What is a version already is accepted as that one, as by the registry.
    project.write("customer.avsc", customer(NAME, PHONE))
    assert project.places("--against", "schemas.lock.json") == (0, [])


@pytest.mark.parametrize(
    ("config", "subject_level", "level"),
    [
        ("", None, "FULL"),
        ('compatibility = "FORWARD"', None, "FORWARD"),
        ('compatibility = "FORWARD"', "NONE", "NONE"),
        ('[[subjects]]\nfile = "customer.avsc"\ncompatibility = "BACKWARD"', "NONE", "BACKWARD"),
    ],
)
def test_the_level_is_the_files_or_the_subjects_or_the_projects_or_the_baselines(
    project: Any, config: str, subject_level: str | None, level: str
):
    held = {"versions": versions(customer(NAME))} | ({"compatibility": subject_level} if subject_level else {})
    project.write("schemas.lock.json", lock(customer=held))
    project.write("customer.avsc", customer(NAME))
    project.write("magicbyte.toml", config)
    _, out, _ = project.run("check", "--against", "schemas.lock.json", "--format", "json")
    assert [checked_file["compatibility"] for checked_file in json.loads(out)["checked"]] == [level]


def test_references_lead_to_files_then_to_the_lock_file(project: Any):
    held = {
        "versions": [{"version": 1, "type": PROTOBUF, "schema": 'syntax = "proto3"; message Money { int64 n = 1; }'}]
    }
    project.write("schemas.lock.json", lock(**{"common/money.proto": held, "address": {"versions": versions(ADDRESS)}}))
    project.write(
        "magicbyte.toml",
        'lock = "schemas.lock.json"\n[[subjects]]\nfile = "a.avsc"\n'
        'references = [{name = "Address", subject = "address", version = 1}]\n',
    )
    project.write("a.avsc", customer('{"name": "a", "type": "Address"}'))
    project.write("b.proto", 'syntax = "proto3"; import "common/money.proto"; message B { Money m = 1; }')
    assert project.places("--against", "none") == (0, [])
    project.edit("magicbyte.toml", "version = 1", "version = 2")
    assert project.places("--against", "none") == (100, ["a.avsc:4:19 DANGLING_REFERENCE"])


ADDRESS = '{"type": "record", "name": "Address", "fields": [{"name": "street", "type": "string"}]}'


def test_a_registry_baseline_has_all_versions_and_their_references(project: Any, own_registry: str):
    with RegistryClient(own_registry) as client:
        client.put_config({"compatibility": "NONE"})
        client.register("address", SchemaText(AVRO, ADDRESS))
        reference = (Reference("Address", "address", 1),)
        for field in (
            '{"name": "a", "type": "Address"}, {"name": "n", "type": "int"}',
            '{"name": "a", "type": "Address"}',
        ):
            client.register("customer", SchemaText(AVRO, customer(field), reference))
        client.put_config({"compatibility": "FORWARD_TRANSITIVE"}, "customer")
    # The address is in no file: it is looked up in the registry.
    project.write(
        "magicbyte.toml",
        '[[subjects]]\nfile = "customer.avsc"\nreferences = [{name = "Address", subject = "address"}]\n',
    )
    project.write("customer.avsc", customer('{"name": "a", "type": "Address"}', '{"name": "n", "type": "string"}'))
    code, findings = project.check("--against", own_registry)
    assert code == 100
    assert [(finding["rule"], finding["version"], finding["direction"]) for finding in findings] == [
        ("TYPE_MISMATCH", "version 1", "FORWARD")
    ]


def test_check_treats_an_unsupported_policy_as_strict_and_reports_the_policy(project: Any, own_registry: str):
    schema = '{"type": "object", "properties": {"x": {"type": "string"}}}'
    stored = '{"kind": "config", "subject": "a", "config": {"compatibilityPolicy": "LOGICAL"}}'
    with RegistryClient(own_registry) as client:
        client.put_config({"compatibilityPolicy": "LENIENT"})
        client.register("a", SchemaText(JSON, schema))
    httpx.post(f"{own_registry}/import?lines=true", content=stored).raise_for_status()
    project.write("a.schema.json", schema.replace('"x"', '"y": {"type": "string"}, "x"'))
    code, out, _ = project.run("check", "--against", own_registry)
    assert (code, "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL" in out) == (100, True)
    assert "note: the compatibilityPolicy of a is LOGICAL, which is not supported: judged as STRICT\n" in out
