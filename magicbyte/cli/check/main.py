"""`magicbyte check`: find schemas that break their readers or writers before they are merged.

Exit code 0 if nothing is wrong, 100 for findings, 1 if the check itself failed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.cli.check.project_options import add_config, project_file, registry_settings
from magicbyte.cli.flags import (
    BROKERS,
    add_bootstrap_servers,
    add_kafka_properties,
    add_schema_registry_url,
    kafka_properties,
)
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure, say

if TYPE_CHECKING:
    from magicbyte.check.findings import Report

#: The exit code for findings.
FOUND = 100
_FIXES = ("all", "ask")
_FORMATS = ("text", "json", "junit", "sarif", "github", "github-markdown", "gitlab")


def main(arguments: Sequence[str]) -> int:
    """Check a project's schemas, write the reports, and return the exit code."""
    if arguments[:1] == ["explain"]:
        return _explain(arguments[1:])
    options = _parse(arguments)
    outputs = [_output(argument) for argument in options.format or ["text"]]
    # These imports are slow, and --help does not need them.
    from magicbyte.check.outputs import renderer  # noqa: PLC0415
    from magicbyte.check.run import Services, check_project  # noqa: PLC0415

    def check() -> Report:
        return check_project(
            Path.cwd(),
            config_file=project_file(options),
            against=options.against or (),
            named=options.files,
            level=options.compatibility,
            lint=options.lint,
            strict=options.strict,
            services=Services(
                options.schema_registry_url,
                options.bootstrap_servers,
                lambda: _kafka_properties(options),
                lambda: registry_settings(options),
            ),
        )

    report = check() if options.fix is None else _fixed(options, check)
    for form, path in outputs:
        _write(renderer(form)(report), path)
    if options.comment:
        from magicbyte.check.commenting import post  # noqa: PLC0415 - uses the network

        try:
            say(post(report))
        except Failure as failure:
            # A fork's job may not write comments, and that must not change the result of the check.
            say(f"no comment: {failure}")
    return FOUND if report.failed else 0


def _explain(arguments: Sequence[str]) -> int:
    parser = CommandParser(
        prog="magicbyte check explain",
        description="Explain a rule, with an example.",
        examples=("magicbyte check explain TYPE_MISMATCH",),
    )
    parser.add_argument("rule", metavar="RULE", help="such as TYPE_MISMATCH; a file of this name is ./explain")
    options = parser.parse_args(arguments)
    from magicbyte.check.rules import explain_rule  # noqa: PLC0415 - slow to load

    _write(explain_rule(options.rule), None)
    return 0


def _kafka_properties(options: argparse.Namespace) -> dict[str, str]:
    from serdes.error import ConfigError  # noqa: PLC0415 - for those who name a topic

    try:
        return kafka_properties(options)
    except ConfigError as error:
        raise Failure(str(error)) from None


def _fixed(options: argparse.Namespace, check: Callable[[], Report]) -> Report:
    from magicbyte.check.config.config import find_config  # noqa: PLC0415
    from magicbyte.cli.check.applying import ask, choose_first, fix_all  # noqa: PLC0415 - only for those who want it

    root = find_config(Path.cwd(), project_file(options)).root
    return fix_all(root, check, ask if options.fix == "ask" else choose_first)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        prog="magicbyte check",
        description=__doc__,
        epilog="`magicbyte check explain RULE` explains a rule.",
        examples=(
            "magicbyte check",
            "magicbyte check --against git:main --strict",
            "magicbyte check --against topic:orders --lint",
        ),
    )
    parser.add_argument("files", nargs="*", metavar="PATH", help="tell only of these files and folders (default: all)")
    parser.add_argument(
        "--against",
        action="append",
        metavar="WHAT",
        help="git:REF, folder:DIR, file:FILE, lock:FILE, registry:URL, topic:TOPIC[,TOPIC..] or none; the prefix may "
        "be left out of folders, files and URLs; may be given several times (default: the configuration's, else the "
        "main branch)",
    )
    add_bootstrap_servers(parser, help_text=f"the brokers of --against topic: (default {BROKERS})")
    add_kafka_properties(parser)
    add_schema_registry_url(
        parser,
        "where --against topic: looks ids up (default: the configuration's `registry`, else http://localhost:8081)",
    )
    add_config(parser)
    parser.add_argument("--compatibility", metavar="LEVEL", help="for subjects that have no level of their own")
    parser.add_argument("--lint", action="store_true", help="switch all lint rules on")
    parser.add_argument(
        "--strict", action="store_true", help="what breaks although the rules allow it is an error, not a warning"
    )
    parser.add_argument(
        "--fix",
        nargs="?",
        choices=_FIXES,
        help="change the files: apply the first remedy of each finding that has one; with =ask one by one",
    )
    parser.add_argument(
        "--comment",
        action="store_true",
        help="write or update the comment of this job's pull request (GITHUB_TOKEN, MAGICBYTE_GITLAB_TOKEN)",
    )
    parser.add_argument(
        "--format",
        action="append",
        metavar="FORM[=FILE]",
        help=f"{', '.join(_FORMATS)}; may be given several times (default: text)",
    )
    # The argument after a plain --fix is a file, not its value.
    options = parser.parse_args(["--fix=all" if argument == "--fix" else argument for argument in arguments])
    for output in options.format or ():
        if output.partition("=")[0] not in _FORMATS:
            parser.error(f"--format {output}: there are {', '.join(_FORMATS)}")
    return options


def _output(argument: str) -> tuple[str, str | None]:
    form, named, path = argument.partition("=")
    return form, path if named else None


def _write(text: str, path: str | None) -> None:
    if path is None or path == "-":
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader of the pipe has closed it; without this, the interpreter would report an error at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}") from None
