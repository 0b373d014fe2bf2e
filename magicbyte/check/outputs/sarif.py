"""SARIF 2.1.0, which code hosts show as alerts."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from compat.edits import Fix
from magicbyte.check.findings import Finding, Report
from magicbyte.kit.inert import inert_json

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report) -> str:
    """One run; its rules are the broken ones, and declared breaks are suppressed results."""
    everything = [*report.worst_first, *report.declared]
    rules = sorted({finding.rule for finding in everything})
    driver: dict[str, Any] = {
        "name": "magicbyte",
        "version": version("magicbyte"),
        "rules": [{"id": rule, "name": rule, "shortDescription": {"text": _described(rule)}} for rule in rules],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the repository."}}},
        "results": [_result(finding, rules.index(finding.rule), report.prefix) for finding in everything],
    }
    return (
        inert_json(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False))
        + "\n"
    )


def _result(finding: Finding, rule: int, prefix: str) -> dict[str, Any]:
    region = {"startLine": finding.position.line, "startColumn": finding.position.column}
    artifact = {"uri": quote(prefix + finding.file), "uriBaseId": "SRCROOT"}
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact, "region": region}}
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": f"{finding.subject}{finding.path}"}]
    identity = "\0".join([finding.rule, finding.subject or finding.file, finding.path, finding.direction or ""])
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": finding.sentences},
        "locations": [location],
        "partialFingerprints": {"magicbyte/v1": hashlib.sha256(identity.encode()).hexdigest()[:32]},
    }
    if finding.fixes:
        result["fixes"] = [_fix(fix, artifact) for fix in finding.fixes]
    if finding.declared is not None:
        result["suppressions"] = [{"kind": "external", "justification": finding.declared}]
    return result


def _fix(fix: Fix, artifact: dict[str, Any]) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": {"charOffset": edit.offset, "charLength": edit.length},
            "insertedContent": {"text": edit.text},
        }
        for edit in fix.edits
    ]
    changes = [{"artifactLocation": artifact, "replacements": replacements}]
    return {"description": {"text": f"{fix.title}."}, "artifactChanges": changes}


def _described(rule: str) -> str:
    return rule.replace("_", " ").capitalize() + "."
