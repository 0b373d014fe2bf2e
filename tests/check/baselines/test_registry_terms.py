"""A registry's config and metadata beside the level: the check judges as the registry does."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from serdes.client.clients import RegistryClient


def record(*fields: tuple[str, str]) -> str:
    return json.dumps(
        {"type": "record", "name": "R", "fields": [{"name": name, "type": kind} for name, kind in fields]}
    )


def register(url: str, subject: str, schema: str, **properties: str) -> None:
    body = {"schema": schema, "metadata": {"properties": properties}}
    answer = httpx.post(f"{url}/subjects/{subject}/versions", json=body)
    assert answer.status_code == 200, answer.text


def refusal(url: str, subject: str, schema: str) -> str | None:
    """The registry's own answer to the schema."""
    answer = httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": schema})
    return None if answer.status_code == 200 else answer.json()["message"]


@pytest.mark.parametrize("baseline", ["registry", "lock"])
def test_versions_of_another_group_do_not_count(project: Any, registry_url: str, baseline: str):
    subject = f"grouped-{baseline}"
    with RegistryClient(registry_url) as client:
        client.put_config({"compatibility": "BACKWARD_TRANSITIVE", "compatibilityGroup": "major"}, subject)
    register(registry_url, subject, record(("a", "int")), major="1")
    register(registry_url, subject, record(("a", "string")), major="2")
    against = registry_url
    if baseline == "lock":
        project.run("download", subject, "--schema-registry-url", registry_url, "--lock", "s.lock.json")
        against = "s.lock.json"
    project.write(f"{subject}.avsc", record(("a", "string"), ("b", "int")))
    code, findings = project.check("--against", against)
    assert (code, [(finding["rule"], finding["version"]) for finding in findings]) == (
        100,
        [("READER_FIELD_MISSING_DEFAULT_VALUE", "version 2")],
    )
    project.write(f"{subject}.avsc", record(("a", "bytes")))
    assert project.check("--against", against, "--compatibility", "BACKWARD")[0] == 0
    assert refusal(registry_url, subject, record(("a", "bytes"))) is None


@pytest.mark.parametrize("baseline", ["registry", "lock"])
def test_reserved_fields_are_refused(project: Any, registry_url: str, baseline: str):
    subject = f"reserved-{baseline}"
    with RegistryClient(registry_url) as client:
        client.put_config({"compatibility": "FORWARD", "validateFields": True}, subject)
    register(registry_url, subject, record(("a", "int")), **{"confluent:reserved": "b, c"})
    against = registry_url
    if baseline == "lock":
        project.run("download", subject, "--schema-registry-url", registry_url, "--lock", "s.lock.json")
        against = "s.lock.json"
    schema = record(("a", "int"), ("b", "int"))
    project.write(f"{subject}.avsc", schema)
    code, findings = project.check("--against", against)
    message = "The new schema has field that conflicts with the reserved field b."
    assert (code, [(finding["rule"], finding["message"]) for finding in findings]) == (
        100,
        [("RESERVED_FIELD", message)],
    )
    assert message in (refusal(registry_url, subject, schema) or "")
    project.write(f"{subject}.avsc", record(("a", "int"), ("d", "int")))
    assert project.check("--against", against)[0] == 0


def test_a_folder_has_its_level(project: Any):
    project.write("magicbyte.toml", '[[subjects]]\nfiles = "orders/**"\ncompatibility = "FORWARD"\n')
    for folder in ("orders", "others"):
        project.write(f"{folder}/{folder}.avsc", record(("a", "int")))
    project.commit()
    for folder in ("orders", "others"):
        project.write(f"{folder}/{folder}.avsc", record(("a", "int"), ("b", "int")))
    assert [finding["file"] for finding in project.check()[1]] == ["others/others.avsc"]
