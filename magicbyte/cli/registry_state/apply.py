"""`magicbyte apply`: change the registry's state to match the project's files.

Levels come first, then schemas, each after those that it refers to; nothing is deleted unless requested. If a schema
cannot be registered, nothing is changed. Exit code 0, 100 for such a schema, 1 for failures.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from magicbyte.cli.registry_state.project import FOUND, add_options, open_project, refuse_findings
from magicbyte.cli.registry_state.steps import Planner, Step
from magicbyte.kit.command_line import CommandParser


def main(arguments: Sequence[str]) -> int:
    """Apply the steps and return the exit code."""
    parser = CommandParser(
        prog="magicbyte apply",
        description=__doc__,
        examples=("magicbyte apply --schema-registry-url http://localhost:8081",),
    )
    parser.add_argument("--delete", action="store_true", help="delete what no file of the project stands for")
    add_options(parser)
    options = parser.parse_args(arguments)
    return run(options, dry_run=options.dry_run)


def run(options: argparse.Namespace, *, dry_run: bool) -> int:
    """Plan the steps, print them, and, unless it is a dry run, carry them out; returns the exit code."""
    with open_project(options) as project:
        if refuse_findings(project):
            return FOUND
        planner = Planner(project)
        number = 0
        for step in _steps(planner, delete=options.delete):
            number += 1
            print(f"{step.sign} {step.text}" if dry_run else f"{step.sign} {step.text}: {step.do()}")
        print(f"{number} change{'s' * (number != 1)}" if number else "the registry is as the files say")
        superfluous = [] if options.delete else planner.superfluous()
        if superfluous:
            print(f"in no file, and left alone without --delete: {', '.join(superfluous)}")
    return 0


def _steps(planner: Planner, *, delete: bool) -> Iterator[Step]:
    yield from planner.levels()
    yield from planner.registrations()
    if delete:
        yield from planner.deletions()
