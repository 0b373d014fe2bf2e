"""The rules of schemas: checked when they come, checked on demand, and explained."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from registry.app import create_app
from registry.log.memory import MemoryLog
from registry.settings import RegistrySettings
from tests.registry.conftest import Api, started
from tests.registry.http.workers import answered_by_worker

PERSON = (
    '{"type":"record","name":"Person","namespace":"acme","fields":[{"name":"age","type":"int"},'
    '{"name":"name","type":"string","confluent:tags":["PII"]}]}'
)
OLDER = '{"type":"record","name":"Person","namespace":"acme","fields":[{"name":"age","type":"int"}]}'
GOOD = {"name": "adult", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.age >= 18"}
WRONG = {**GOOD, "expr": "message.agee >= 18"}
CONSTANT = {**GOOD, "expr": "1 == 1"}


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    """One registry for the tests of this file, because its workers load CEL once; each test has its own subject."""
    log = MemoryLog()
    settings = RegistrySettings.from_properties({"magicbyte.storage": "memory:"})
    with TestClient(create_app(settings, started(log))) as client:
        yield Api(client, log)


def rules(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"domainRules": list(rules)}


def test_a_rule_that_cannot_be_carried_out_is_refused(api: Any) -> None:
    refused = api.register("a_rule_that", PERSON, ruleSet=rules(GOOD, {**WRONG, "name": "typo"}))
    body = refused.json()
    assert (refused.status_code, body["error_code"]) == (422, 42210)
    assert body["message"].startswith("rule 'typo': undefined field 'agee'")
    assert "(ruleSet.domainRules[1].expr, line 1, column 8)" in body["message"]
    (finding,) = body["findings"]
    assert (finding["code"], finding["rule"], finding["line"], finding["column"]) == ("cel-type", "typo", 1, 8)
    assert api("GET", "/subjects/a_rule_that/versions").status_code == 404
    assert api.register("a_rule_that", PERSON, ruleSet=rules(GOOD)).status_code == 200


def test_texts_of_the_reference_come_first(api: Any) -> None:
    refused = api.register("texts_of_the", PERSON, ruleSet=rules({**WRONG, "mode": "UPGRADE"}))
    assert refused.json() == {"error_code": 42210, "message": "Domain rules can only be WRITE, READ, WRITEREAD"}


def test_encryption_is_stored_with_its_parameters(api: Any) -> None:
    encrypt = {"name": "e", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": ["PII"]}
    refused = api.register("encryption_i", PERSON, ruleSet=rules(encrypt))
    assert refused.json()["findings"][0]["code"] == "encrypt-parameter"
    stored = rules({**encrypt, "params": {"encrypt.kek.name": "kek", "encrypt.kms.type": "aws-kms"}})
    assert api.register("encryption_i", PERSON, ruleSet=stored).json()["ruleSet"]["domainRules"][0]["type"] == "ENCRYPT"


def test_warnings_are_logged_and_do_not_refuse(api: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "magicbyte.registry.service"):
        assert api.register("warnings_are", PERSON, ruleSet=rules(CONSTANT)).status_code == 200
    (record,) = caplog.records
    assert record.message.startswith(
        "a new version has doubtful rules: subject warnings_are: rule 'adult': the condition"
    )


@pytest.mark.parametrize(("check", "status", "logged"), [("warn", 200, True), ("off", 200, False)])
def test_the_setting_decides_the_effect_of_findings(
    make_api: Callable[..., Any], caplog: pytest.LogCaptureFixture, check: str, status: int, *, logged: bool
) -> None:
    api = make_api(magicbyte_rules_check=check)
    with caplog.at_level(logging.WARNING, "magicbyte.registry.service"):
        assert api.register("s", PERSON, ruleSet=rules(WRONG)).status_code == status
    assert ("undefined field 'agee'" in caplog.text) is logged


def test_the_registry_knows_the_rule_types_of_the_clients(api: Any, make_api: Callable[..., Any]) -> None:
    mine = {**GOOD, "type": "MINE", "expr": "no CEL", "onFailure": "PAGE"}
    assert api.register("mine", PERSON, ruleSet=rules(mine)).json()["error_code"] == 42210
    of_clients = make_api(magicbyte_rules_types="mine, page")
    assert of_clients.register("s", PERSON, ruleSet=rules(mine)).status_code == 200


def test_rules_of_the_latest_version_are_only_warned_of(api: Any) -> None:
    assert api.register("evolved", OLDER, ruleSet=rules(GOOD)).status_code == 200
    # The same rules, which a schema without the field inherits.
    other = OLDER.replace('"age","type":"int"', '"years","type":"int","default":0')
    api("PUT", "/config/evolved", {"compatibility": "NONE"})
    assert api.register("evolved", other).json()["ruleSet"] == rules({**GOOD, "disabled": False})
    assert api.register("evolved", other, ruleSet=rules({**GOOD, "doc": "new"})).json()["error_code"] == 42210


def test_imports_are_not_checked(make_api: Callable[..., Any]) -> None:
    api = make_api()
    api("PUT", "/mode", {"mode": "IMPORT"})
    imported = api.register("s", PERSON, id=7, version=1, ruleSet=rules(WRONG))
    assert imported.status_code == 200


def test_a_schema_without_rules_asks_nothing(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("rules were checked")

    monkeypatch.setattr("registry.decide.registration.check_rules.rule_findings", refuse)
    assert api.register("a_schema_wit", PERSON).status_code == 200
    assert (
        api.register("t", PERSON, metadata={"properties": {"a": "b"}}, ruleSet={"domainRules": []}).status_code == 200
    )


def test_rules_are_checked_on_demand(api: Any) -> None:
    body = {"schema": PERSON, "ruleSet": rules(WRONG, {**CONSTANT, "name": "constant"})}
    findings = api("POST", "/rules/check", body).json()["findings"]
    assert [(finding["code"], finding["severity"]) for finding in findings] == [
        ("cel-type", "refuse"),
        ("constant-condition", "warn"),
    ]
    assert api("POST", "/rules/check", {"schema": PERSON, "ruleSet": rules(GOOD)}).json() == {"findings": []}
    malformed = api("POST", "/rules/check", {"schema": PERSON, "ruleSet": rules({**GOOD, "name": "1"})}).json()
    assert [finding["code"] for finding in malformed["findings"]] == ["rule-set"]
    assert api("POST", "/rules/check", {"ruleSet": rules(GOOD)}).json()["error_code"] == 42201
    assert api("POST", "/rules/check", {"schema": "{", "ruleSet": rules(GOOD)}).json()["error_code"] == 42201


def test_a_check_for_a_subject_inherits_as_a_registration(api: Any) -> None:
    upgrade = {"name": "up", "kind": "CONDITION", "mode": "UPGRADE", "type": "CEL", "expr": "message.name != ''"}
    api.register("a_check_for", OLDER, ruleSet=rules(GOOD))
    body = {"schema": PERSON, "ruleSet": {"migrationRules": [upgrade]}}
    assert api("POST", "/rules/check", body).json() == {"findings": []}
    # Migration rules read the version before, which has no name.
    (finding,) = api("POST", "/rules/check?subject=a_check_for", body).json()["findings"]
    assert (finding["code"], finding["place"]) == ("cel-type", "ruleSet.migrationRules[0].expr")
    assert api("POST", "/rules/check?subject=a_check_for", {}).json() == {"findings": []}
    api("PUT", "/config/a_check_for", {"overrideRuleSet": rules(WRONG)})
    assert [finding["code"] for finding in api("POST", "/rules/check?subject=a_check_for", {}).json()["findings"]] == [
        "cel-type"
    ]


def test_the_plan_of_a_versions_rules(api: Any) -> None:
    default = {**GOOD, "name": "known", "expr": "message.age != 0"}
    override = {**GOOD, "name": "old", "expr": "message.age < 200", "mode": "WRITEREAD", "onFailure": "DLQ,NONE"}
    api("PUT", "/config/the_plan_of", {"defaultRuleSet": rules(default), "overrideRuleSet": rules(override)})
    of_field = {
        "name": "f",
        "kind": "TRANSFORM",
        "mode": "WRITEREAD",
        "type": "CEL_FIELD",
        "tags": ["PII"],
        "expr": "value",
    }
    registered = api.register(
        "the_plan_of",
        PERSON,
        ruleSet=rules(of_field, {**of_field, "name": "g"}, {**GOOD, "disabled": True}),
        metadata={"tags": {"acme.Person.name": ["NAME"]}},
    )
    assert registered.status_code == 200
    plan = api("GET", "/subjects/the_plan_of/versions/1?explain=rules").json()
    assert (plan["subject"], plan["version"], plan["enableAt"]) == ("the_plan_of", 1, "ALL")
    assert plan["id"] == registered.json()["id"]
    assert [(mode["mode"], [rule["name"] for rule in mode["rules"]]) for mode in plan["modes"]] == [
        ("WRITE", ["known", "f", "old"]),
        ("READ", ["old", "f"]),
    ]
    written, read = (mode["rules"] for mode in plan["modes"])
    assert [(rule["origin"], rule["onFailure"]) for rule in written] == [
        ("default", "ERROR"), ("own", "ERROR"), ("override", "DLQ")
    ]  # fmt: skip
    assert [rule["onFailure"] for rule in read] == ["NONE", "ERROR"]
    assert written[1]["fields"] == [{"name": "acme.Person.name", "type": "STRING", "tags": ["NAME", "PII"]}]
    assert written[0]["reads"] == ["age"]
    assert [(skipped["mode"], skipped["name"], skipped["reason"]) for skipped in plan["skipped"]] == [
        ("WRITE", "g", "rule 'f' has the same mode, type and tags"),
        ("WRITE", "adult", "it is disabled"),
        ("READ", "g", "rule 'f' has the same mode, type and tags"),
    ]


def test_a_version_without_rules_has_an_empty_plan(api: Any) -> None:
    api.register("a_version_wi", PERSON)
    plan = api("GET", "/subjects/a_version_wi/versions/latest?explain=rules").json()
    assert (plan["modes"], plan["skipped"]) == ([], [])
    assert "schema" in api("GET", "/subjects/a_version_wi/versions/1?explain=true").json()
    assert api("GET", "/subjects/nobody/versions/1?explain=rules").status_code == 404


@pytest.mark.slow
def test_rules_that_take_too_long_are_refused(api: Any) -> None:
    many = [{**GOOD, "name": f"r{index}", "expr": "message.age > 1 || " * 500 + "false"} for index in range(400)]
    body = {"schema": PERSON, "ruleSet": rules(*many)}
    refused = answered_by_worker(api, "/subjects/too_long/versions", body).json()
    assert (refused["error_code"], "magicbyte.rules.check" in refused["message"]) == (42209, True)
