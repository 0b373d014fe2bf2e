"""`magicbyte rules check`: the findings of `magicbyte check` about rules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from magicbyte.check.config.config import is_rule_file
from magicbyte.check.project.rule_file import rule_files_of_schema
from magicbyte.kit.failure import Failure

#: The exit code for findings, as of `magicbyte check`.
FOUND = 100
_SCHEMAS = (".avsc", ".json", ".schema.json", ".proto")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:  # noqa: ARG001  the signature of all
    """Write the findings; returns the exit code."""
    from magicbyte.check.config.config import find_config  # noqa: PLC0415 - not for --help
    from magicbyte.check.outputs import renderer  # noqa: PLC0415
    from magicbyte.check.run import check_project  # noqa: PLC0415

    root = find_config(Path.cwd()).root
    wanted = {file.resolve() for name in options.files for file in _rule_files(Path(name))}
    report = check_project(Path.cwd(), against=("none",))
    findings = tuple(
        finding
        for finding in report.findings
        if finding.rule.startswith("RULES_") and (root / finding.file).resolve() in wanted
    )
    checked = tuple(
        one for one in report.checked if wanted & {path.resolve() for path in rule_files_of_schema(root / one.file)}
    )
    report = replace(report, findings=findings, checked=checked, notes=(), declared=())
    sys.stdout.write(renderer("text")(report))
    return FOUND if report.failed else 0


def _rule_files(file: Path) -> Iterator[Path]:
    """The files of rules that an argument names: itself, or those beside a schema."""
    if not file.is_file():
        raise Failure(f"there is no file {file}")
    if not is_rule_file(file.name):
        beside = list(rule_files_of_schema(file))
        if not beside:
            raise Failure(f"{file}: there are no rules beside it, such as {file.stem}.rules.yaml")
        yield from beside
        return
    stem = file.name[: file.name.rindex(".rules.")]
    if not any(file.with_name(f"{stem}{ending}").is_file() for ending in _SCHEMAS):
        raise Failure(f"{file}: there is no schema beside it, such as {stem}.avsc")
    yield file
