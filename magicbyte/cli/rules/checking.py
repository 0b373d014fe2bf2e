"""`magicbyte rules check`: the findings of `magicbyte check` about rules."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from magicbyte.kit.failure import Failure

#: The exit code for findings, as of `magicbyte check`.
FOUND = 100
_SCHEMAS = (".avsc", ".json", ".schema.json", ".proto")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:  # noqa: ARG001  the signature of all
    """Write the findings; returns the exit code."""
    from magicbyte.check.config.config import is_rule_file  # noqa: PLC0415 - not for --help
    from magicbyte.check.outputs import renderer  # noqa: PLC0415
    from magicbyte.check.run import check_project  # noqa: PLC0415

    named: dict[str, None] = {}
    for name in options.files:
        named[name] = None
        if is_rule_file(name):
            named[_schema_of(name)] = None
    report = check_project(Path.cwd(), against=("none",), named=tuple(named))
    about_rules = tuple(finding for finding in report.findings if finding.rule.startswith("RULES_"))
    report = replace(report, findings=about_rules)
    sys.stdout.write(renderer("text")(report))
    return FOUND if report.failed else 0


def _schema_of(name: str) -> str:
    stem = name[: name.rindex(".rules.")]
    for ending in _SCHEMAS:
        if Path(f"{stem}{ending}").is_file():
            return f"{stem}{ending}"
    raise Failure(f"{name}: there is no schema beside it: {', '.join(stem + ending for ending in _SCHEMAS)}")
