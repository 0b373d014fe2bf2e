"""Looks the locked dependencies up in the database of known vulnerabilities: `make audit`, over the network.

It fails if a dependency has a vulnerability. Without the network nothing is audited: it says so, and fails only with
`--strict`, which a release needs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COMMAND = (
    *(Path(sys.executable).with_name("uv"), "tool", "run", "pip-audit@2.10.1"),
    *("--requirement", ROOT / "requirements.lock", "--disable-pip", "--require-hashes"),
    *("--format", "json", "--progress-spinner", "off"),
)


def main() -> None:
    """Run pip-audit, and end with the exit code of its report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strict", action="store_true", help="fail if a dependency could not be audited")
    options = parser.parse_args()
    ran = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    lines, is_good = report(ran.stdout, strict=options.strict)
    print(*lines, sep="\n")
    if not is_good:
        sys.exit(ran.stderr.strip()[-2000:] or 1)


def report(output: str, *, strict: bool) -> tuple[list[str], bool]:
    """Read pip-audit's report.

    Args:
        output: What pip-audit printed; no JSON if it could not start.
        strict: Whether every dependency must have been audited.

    Returns:
        The lines to print, and whether the audit passes.
    """
    try:
        dependencies: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except (ValueError, KeyError):
        return ["no dependency was audited: pip-audit did not reach its database"], not strict
    lines = [
        f"{dependency['name']} {dependency['version']}: {vulnerability['id']}, fixed in"
        f" {', '.join(vulnerability['fix_versions']) or 'no version'}"
        for dependency in dependencies
        for vulnerability in dependency.get("vulns", ())
    ]
    is_good = not lines
    left_out = sum("skip_reason" in dependency for dependency in dependencies)
    if left_out:
        lines.append(f"{left_out} of {len(dependencies)} dependencies could not be audited")
    return lines or [f"{len(dependencies)} dependencies without a known vulnerability"], is_good and not (
        strict and left_out
    )


if __name__ == "__main__":
    main()
