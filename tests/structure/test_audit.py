from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

report = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "audit.py"))["report"]
GOOD = {"name": "a", "version": "1", "vulns": []}
BAD = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["2.1", "3"]}]}
LEFT_OUT = {"name": "c", "skip_reason": "no network"}


@pytest.mark.parametrize(
    ("dependencies", "strict", "lines", "passes"),
    [
        ([GOOD], True, ["1 dependencies without a known vulnerability"], True),
        ([GOOD, BAD], False, ["b 2: CVE-1, fixed in 2.1, 3"], False),
        ([GOOD, LEFT_OUT], False, ["1 of 2 dependencies could not be audited"], True),
        ([GOOD, LEFT_OUT], True, ["1 of 2 dependencies could not be audited"], False),
    ],
)
def test_a_vulnerability_fails_the_audit(
    dependencies: list[dict[str, Any]], strict: bool, lines: list[str], passes: bool
) -> None:
    assert report(json.dumps({"dependencies": dependencies}), strict=strict) == (lines, passes)


@pytest.mark.parametrize("strict", [False, True])
def test_an_audit_without_the_network_fails_a_release_only(strict: bool) -> None:
    lines, passes = report("", strict=strict)
    assert lines == ["no dependency was audited: pip-audit did not reach its database"]
    assert passes is not strict
