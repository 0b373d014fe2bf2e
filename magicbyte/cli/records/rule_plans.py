"""The rules of a version in the order in which they run, and the fields that they touch."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compat.contracts.explain import explain_rules, origins_of
from compat.contracts.findings.contract import Contract, SchemaVersion
from compat.contracts.model import Metadata, RuleSet
from magicbyte.cli.tables import aligned
from magicbyte.kit.failure import Failure
from serdes.client.clients import RegistryClient
from serdes.error import RegistryError
from serdes.rules.context import Ruled

_HEAD = ("", "RULE", "TYPE", "KIND", "LIST", "ORIGIN", "ON FAILURE", "FIELDS", "EXPRESSION")
_LONGEST = 60


def registered(client: RegistryClient, subject: str, version: str | int = "latest") -> Ruled:
    """A version of a subject with its rules.

    Raises:
        RegistryError, RegistryUnavailable: There is none, or the registry does not answer.
    """
    if isinstance(version, str) and version != "latest" and not version.isdecimal():
        raise Failure(f"--version must be a number or latest, not {version!r}")
    number = version if version == "latest" else int(version)
    found = client.version(subject, number)
    dependencies = client.dependencies(found.schema, subject)
    return Ruled.of(f"version {found.version} of subject {found.subject}", found, dependencies)


def write_rules(client: RegistryClient, subject: str, version: str | int, modes: Sequence[str]) -> None:
    """Write the rules of a version that clients carry out in some modes."""
    ruled = registered(client, subject, version)
    plan = plan_of(ruled, origins(client, subject, ruled), "CLIENT")
    parts = {part: [row for row in plan[part] if row["mode"] in modes] for part in ("modes", "skipped")}
    sys.stdout.write("".join(f"{line}\n" for line in text_of(parts, ruled.name)))


def plan_of(ruled: Ruled, of_config: Mapping[str, str], environment: str) -> dict[str, Any]:
    """The plan of a schema's rules in one environment; see `explain_rules`."""
    rule_set = RuleSet.from_json(ruled.rule_set) or RuleSet()
    version = SchemaVersion(ruled.schema, ruled.dependencies)
    plan = explain_rules(Contract(version, rule_set, Metadata.from_json(ruled.metadata)), of_config)
    if plan["enableAt"] in ("ALL", "NONE", environment):
        return plan
    reason = f"enableAt is {plan['enableAt']}, not {environment}"
    elsewhere = [
        {"mode": mode["mode"], **{name: rule[name] for name in ("name", "type", "list", "origin")}, "reason": reason}
        for mode in plan["modes"]
        for rule in mode["rules"]
    ]
    return {**plan, "modes": [], "skipped": [*elsewhere, *plan["skipped"]]}


def origins(client: RegistryClient, subject: str, ruled: Ruled) -> dict[str, str]:
    """The rules that come from the subject's config, or the global one: by name, `default` or `override`."""
    try:
        config = client.drive(client.endpoints.config(subject, default_to_global=True))
    except RegistryError:
        return {}
    return origins_of(
        RuleSet.from_json(ruled.rule_set),
        default=RuleSet.from_json(config.get("defaultRuleSet")),
        override=RuleSet.from_json(config.get("overrideRuleSet")),
    )


def text_of(plan: Mapping[str, Any], name: str) -> Iterator[str]:
    """The lines of a plan for people."""
    if not plan["modes"] and not plan["skipped"]:
        yield f"{name} has no rules."
        return
    for mode in plan["modes"]:
        yield f"{mode['mode']} of {name}:"
        rows = [_row(index, rule) for index, rule in enumerate(mode["rules"], 1)]
        yield from aligned([_HEAD, *rows])
        tagged = [field for rule in mode["rules"] for field in rule.get("fields") or ()]
        for field in {field["name"]: field for field in tagged}.values():
            yield f"    {field['name']} ({field['type']}): {', '.join(field['tags']) or 'no tags'}"
    if plan["skipped"]:
        yield "Skipped:"
        head = ("MODE", "RULE", "TYPE", "ORIGIN", "REASON")
        rows = [
            tuple(_cell(skipped[part]) for part in ("mode", "name", "type", "origin", "reason"))
            for skipped in plan["skipped"]
        ]
        yield from aligned([head, *rows])


def _row(index: int, rule: Mapping[str, Any]) -> Sequence[str]:
    if rule.get("fields") is not None:
        touched = ", ".join(field["name"] for field in rule["fields"]) or "none"
    else:
        touched = ", ".join("the whole message" if path == "*" else path for path in rule.get("reads") or ())
    parts = [_cell(rule.get(part)) for part in ("name", "type", "kind", "list", "origin", "onFailure")]
    return [str(index), *parts, touched, _short(rule.get("expr") or "")]


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
