"""`magicbyte register`: register a project's schemas, each after those that it refers to.

All schemas are checked before the first is registered. Exit code 0, 100 for findings, 1 for failures.
"""

from __future__ import annotations

from collections.abc import Sequence

from magicbyte.cli.registry_state.project import FOUND, add_options, open_project, refuse_findings
from magicbyte.cli.registry_state.steps import Planner
from magicbyte.kit.command_line import CommandParser


def main(arguments: Sequence[str]) -> int:
    """Register the schemas and return the exit code."""
    parser = CommandParser(
        prog="magicbyte register",
        description=__doc__,
        examples=(
            "magicbyte register --dry-run",
            "magicbyte register orders-value --schema-registry-url http://localhost:8081",
        ),
    )
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="only these and what they refer to")
    add_options(parser)
    options = parser.parse_args(arguments)
    with open_project(options, options.subjects) as project:
        if refuse_findings(project):
            return FOUND
        number = 0
        for step in Planner(project).registrations():
            number += 1
            print(f"{step.sign} {step.text}: {'not done (dry run)' if options.dry_run else step.do()}")
        if not number:
            print("the registry has all of these schemas already")
    return 0
