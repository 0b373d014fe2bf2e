"""The order in which rules are carried out, and the fields that they touch."""

from __future__ import annotations

from typing import Any

from compat.contracts.explain import explain_rules
from compat.contracts.findings import Contract
from compat.contracts.model import Metadata, RuleSet
from tests.compat.contracts.test_findings import PERSON, cel, encrypt, of_field, version


def plan(**rule_set: Any) -> dict[str, Any]:
    origins = rule_set.pop("origins", {})
    rules = RuleSet.from_json(rule_set)
    assert rules is not None
    return explain_rules(Contract(version(PERSON), rules, Metadata({"**.street": ("X",)})), origins)


def order(plan: dict[str, Any]) -> dict[str, list[str]]:
    return {mode["mode"]: [rule["name"] for rule in mode["rules"]] for mode in plan["modes"]}


def test_reading_reverses_the_lists_and_their_rules() -> None:
    made = plan(
        domainRules=[
            cel("true", name="a", mode="WRITEREAD"),
            cel("true", name="b", mode="WRITEREAD"),
            cel("true", name="c"),
        ],
        encodingRules=[encrypt(name="e", type="ENCRYPT_PAYLOAD")],
        migrationRules=[
            cel("true", name="u", mode="UPGRADE"),
            cel("true", name="v", mode="UPDOWN"),
            cel("true", name="w", mode="DOWNGRADE"),
        ],
    )
    assert order(made) == {
        "WRITE": ["a", "b", "c", "e"],
        "READ": ["e", "b", "a"],
        "UPGRADE": ["u", "v"],
        "DOWNGRADE": ["w", "v"],
    }


def test_the_fields_and_paths_of_a_rule() -> None:
    rules = [
        of_field("value != ''", "X", "PII", name="f"),
        of_field("typeName != 'ENUM'", "E", name="g"),
        encrypt("E", name="e"),
        cel("message.ok ; message.home.street == '' && message.id > 0", name="m"),
        cel("size(message) > 0", name="whole"),
        cel("1 == 1", name="none"),
        cel("message.(", name="wrong"),
    ]
    made = {rule["name"]: rule for rule in plan(domainRules=rules)["modes"][0]["rules"]}
    assert made["f"]["fields"] == [
        {"name": "acme.Person.name", "type": "STRING", "tags": ["PII"]},
        {"name": "acme.Home.street", "type": "STRING", "tags": ["S", "X"]},
    ]
    assert (made["g"]["fields"], [field["type"] for field in made["e"]["fields"]]) == ([], ["ENUM"])
    assert {name: rule["reads"] for name, rule in made.items() if "reads" in rule} == {
        "m": ["ok", "home.street", "id"],
        "whole": ["*"],
        "none": [],
    }
    assert "fields" not in made["m"]


def test_explain_shows_the_actions_of_each_direction() -> None:
    rule = cel("true", name="a", mode="WRITEREAD", onSuccess="NONE, DLQ", onFailure="DLQ")
    written, read = (mode["rules"][0] for mode in plan(domainRules=[rule], origins={"a": "default"})["modes"])
    assert (written["onSuccess"], read["onSuccess"], written["onFailure"], read["onFailure"]) == (
        "NONE",
        "DLQ",
        "DLQ",
        "DLQ",
    )
    assert (written["origin"], written["kind"], written["list"]) == ("default", "CONDITION", "domainRules")
    bare = {"name": "b", "mode": "WRITE", "type": "CEL", "expr": "message"}
    rule = plan(domainRules=[bare])["modes"][0]["rules"][0]
    assert (rule["onSuccess"], rule["onFailure"], rule["kind"], rule["origin"]) == ("NONE", "ERROR", "TRANSFORM", "own")


def test_skipped_rules_have_a_reason() -> None:
    made = plan(domainRules=[cel("true", name="a", disabled=True)], enableAt="CLIENT")
    assert (made["enableAt"], made["modes"]) == ("CLIENT", [])
    assert made["skipped"] == [
        {
            "mode": "WRITE",
            "name": "a",
            "type": "CEL",
            "list": "domainRules",
            "origin": "own",
            "reason": "it is disabled",
        }
    ]
    made = plan(domainRules=[cel("true", name="a")], enableAt="NONE")
    assert [skipped["reason"] for skipped in made["skipped"]] == ["enableAt is NONE"]
