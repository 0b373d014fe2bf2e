"""GitLab's code quality report."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from magicbyte.check.findings import ERROR, Report
from magicbyte.kit.inert import inert_json


def render(report: Report) -> str:
    """An array of issues; fingerprints are unique, and stay the same when lines move."""
    seen: Counter[str] = Counter()
    issues = []
    for finding in report.worst_first:
        identity = "\0".join([finding.rule, finding.file, finding.path, finding.direction or ""])
        seen[identity] += 1
        issues.append(
            {
                "description": finding.sentences,
                "check_name": finding.rule,
                "fingerprint": hashlib.sha256(f"{identity}\0{seen[identity]}".encode()).hexdigest(),
                "severity": "major" if finding.severity == ERROR else "minor",
                "location": {
                    "path": report.prefix + finding.file,
                    "positions": {"begin": {"line": finding.position.line, "column": finding.position.column}},
                    "lines": {"begin": finding.position.line},
                },
            }
        )
    return inert_json(json.dumps(issues, indent=2, ensure_ascii=False)) + "\n"
