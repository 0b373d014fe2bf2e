"""`magicbyte download`: the registry's schemas as files, or its state as a lock file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from compat.schema import AVRO, JSON, PROTOBUF, SchemaText
from magicbyte.check.baselines.lock import State
from magicbyte.check.baselines.registry import fetch_state, registry_client
from magicbyte.check.config.patterns import matches
from magicbyte.cli.registry_state.project import add_options, configuration
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure

_ENDINGS = {AVRO: ".avsc", JSON: ".schema.json", PROTOBUF: ".proto"}


def main(arguments: Sequence[str]) -> int:
    """Download and return the exit code."""
    parser = CommandParser(
        prog="magicbyte download",
        description=__doc__,
        examples=(
            "magicbyte download 'orders-*' --folder schemas",
            "magicbyte download --lock schemas.lock.json",
        ),
    )
    parser.add_argument("subjects", nargs="*", metavar="PATTERN", help="subjects, with * and ? (default: all)")
    parser.add_argument("--folder", type=Path, default=Path(), metavar="DIR", help="where files go (default: here)")
    parser.add_argument("--all-versions", action="store_true", help="SUBJECT.vN.avsc of every version, not the latest")
    parser.add_argument("--lock", type=Path, metavar="FILE", help="write one lock file of all versions and levels")
    add_options(parser)
    options = parser.parse_args(arguments)
    _, settings = configuration(options)
    with registry_client(settings) as client:
        patterns = options.subjects or ["**"]
        selected = [name for name in client.subjects() if any(matches(pattern, name) for pattern in patterns)]
        if options.subjects and not selected:
            raise Failure(f"the registry has no subject like {', '.join(options.subjects)}")
        state = fetch_state(client, selected)
    if options.lock is not None:
        text = json.dumps(state.to_json(), indent=2, ensure_ascii=False) + "\n"
        _write(options.lock, text, dry_run=options.dry_run)
        return 0
    for name, schema in _files(state, all_versions=options.all_versions):
        text = schema.text if schema.text.endswith("\n") else schema.text + "\n"
        _write(options.folder / name, text, dry_run=options.dry_run)
    return 0


def _files(state: State, *, all_versions: bool) -> Iterator[tuple[str, SchemaText]]:
    latest = {subject: max(versions) for subject, versions in state.versions.items() if versions}
    newest: dict[str, int] = {}
    for subject, number in state.referenced:
        newest[subject] = max(number, newest.get(subject, 0))
    for subject, versions in state.versions.items():
        for number, schema in sorted(versions.items()):
            if all_versions:
                yield file_name(f"{subject}.v{number}", schema.schema_type), schema
            elif number == latest[subject]:
                yield file_name(subject, schema.schema_type), schema
    for (subject, number), schema in state.referenced.items():
        if subject not in latest and number == newest[subject]:
            yield file_name(subject, schema.schema_type), schema


def file_name(subject: str, schema_type: str) -> str:
    """The path of a subject's file: an import path is kept, and characters that paths cannot contain are quoted."""
    ending = _ENDINGS.get(schema_type, ".txt")
    path = PurePosixPath(subject)
    if subject.endswith((ending, ".json")) and not path.is_absolute() and ".." not in path.parts:
        return "/".join(quote(part, safe=" :@+=") for part in path.parts)
    return quote(subject, safe=" @+=") + ending


def _write(path: Path, text: str, *, dry_run: bool) -> None:
    try:
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            print(f"= {path}")
            return
        print(f"{'~' if path.exists() else '+'} {path}{': not written (dry run)' if dry_run else ''}")
        if not dry_run:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}") from None
