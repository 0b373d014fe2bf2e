"""`magicbyte generate`: typed Python records from schemas, for the serializers and deserializers.

It writes one module for each namespace of Avro schemas and each document of JSON Schema, and protoc's modules for
Protobuf. A run with the same schemas writes the same bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from magicbyte.cli.check.project_options import add_config
from magicbyte.cli.flags import add_schema_registry_url
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure


def main(arguments: Sequence[str]) -> int:
    """Generate, or check what is there, and return the exit code."""
    options = _parse(arguments)
    # These imports are slow, and --help does not need them.
    from magicbyte.cli.generate.files import differing, write  # noqa: PLC0415
    from magicbyte.cli.generate.inputs import sources_of_files, sources_of_registry  # noqa: PLC0415
    from magicbyte.generate.modules import package_files  # noqa: PLC0415

    sources = sources_of_registry(options) if options.subject else sources_of_files(options)
    files = package_files(sources, package=options.package or "", frozen=options.style == "frozen")
    changed = [*differing(options.out, files)]
    for name, reason in changed:
        print(
            f"{_SIGNS[reason]} {options.out / name}{'' if reason in _WRITTEN and not options.check else f': {reason}'}"
        )
    if options.check:
        return 1 if changed else 0
    write(options.out, files, [name for name, reason in changed if reason in _WRITTEN])
    return 0


_SIGNS = {"missing": "+", "differs": "~", "no schema stands for it": "?"}
#: The reasons for which a file is written.
_WRITTEN = frozenset({"missing", "differs"})


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        prog="magicbyte generate",
        description=__doc__,
        examples=(
            "magicbyte generate --out src/records",
            "magicbyte generate schemas/employee.avsc --out src --package acme.records --style frozen",
            "magicbyte generate --schema-registry-url http://localhost:8081 --subject orders-value@3 --out src/records",
            "magicbyte generate --out src/records --check",
        ),
    )
    parser.add_argument(
        "files", nargs="*", metavar="PATH", help="schema files, folders and patterns (default: all of the project's)"
    )
    add_schema_registry_url(
        parser, "the registry of --subject (default: the configuration's `registry`); also --from registry URL"
    )
    parser.add_argument("--from", dest="origin", nargs=2, metavar=("registry", "URL"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--subject",
        action="append",
        default=[],
        metavar="SUBJECT",
        help="take SUBJECT@VERSION, or the latest version of a subject, from a registry; may be given several times",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder of the modules")
    parser.add_argument("--package", metavar="PACKAGE", help="a Python package in the folder, such as acme.records")
    parser.add_argument(
        "--style",
        choices=("frozen", "mutable"),
        default="mutable",
        help="whether records may be changed (default: mutable)",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; name files that are out of date, exit with 1"
    )
    add_config(parser)
    options = parser.parse_args(arguments)
    if options.origin and options.origin[0] != "registry":
        parser.error(f"--from {options.origin[0]}: there is only `registry URL`")
    if (options.origin or options.schema_registry_url) and not options.subject:
        parser.error("a registry needs --subject")
    if options.origin:
        options.schema_registry_url = options.origin[1]
    if options.subject and options.files:
        parser.error("name files or --subject, not both")
    if options.package is not None and not all(part.isidentifier() for part in options.package.split(".")):
        raise Failure(f"--package {options.package}: a Python package is names with dots between them")
    return options
