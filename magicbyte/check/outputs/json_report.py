"""JSON for programs."""

from __future__ import annotations

import json

from magicbyte.check.findings import Report
from magicbyte.kit.inert import inert_json


def render(report: Report) -> str:
    """The whole report as one JSON object."""
    value = {
        "checked": [
            {
                "subject": checked.subject,
                "file": checked.file,
                "compatibility": checked.level,
                "versions": checked.versions,
            }
            for checked in report.checked
        ],
        "findings": [finding.to_json() for finding in report.findings],
        "declared": [finding.to_json() for finding in report.declared],
        "notes": list(report.notes),
    }
    return inert_json(json.dumps(value, indent=2, ensure_ascii=False)) + "\n"
