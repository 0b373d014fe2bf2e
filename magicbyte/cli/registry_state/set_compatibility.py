"""`magicbyte set-compatibility`: set the compatibility levels of subjects, or the global level."""

from __future__ import annotations

from collections.abc import Sequence

from compat.level import LEVELS
from magicbyte.check.baselines.registry import registry_client
from magicbyte.cli.registry_state.project import add_options, configuration
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure
from serdes.client.clients import RegistryClient
from serdes.error import RegistryError

#: The argument that removes a subject's own level.
DEFAULT = "default"


def main(arguments: Sequence[str]) -> int:
    """Set the levels and return the exit code."""
    parser = CommandParser(
        prog="magicbyte set-compatibility",
        description=__doc__,
        examples=("magicbyte set-compatibility orders-value=FULL --global BACKWARD",),
    )
    parser.add_argument(
        "levels", nargs="*", metavar="SUBJECT=LEVEL", help=f"{', '.join(LEVELS)}, or {DEFAULT} for the global one"
    )
    parser.add_argument("--global", dest="everywhere", metavar="LEVEL", help="the level of all other subjects")
    add_options(parser)
    options = parser.parse_args(arguments)
    names: dict[str | None, str] = {} if options.everywhere is None else {None: options.everywhere}
    for argument in options.levels:
        subject, equals, level = argument.rpartition("=")
        if not equals or not subject:
            parser.error(f"{argument}: write SUBJECT=LEVEL")
        names[subject] = level
    if not names:
        parser.error("nothing to set: write SUBJECT=LEVEL or --global LEVEL")
    levels = {subject: _level(level, subject) for subject, level in names.items()}
    _, settings = configuration(options)
    with registry_client(settings) as client:
        for subject, level in levels.items():
            shown = f"~ {subject or 'global'}: {level or DEFAULT}"
            print(f"{shown}: not done (dry run)" if options.dry_run else f"{shown}: {_set(client, subject, level)}")
    return 0


def _level(name: str, subject: str | None) -> str | None:
    if name.lower() == DEFAULT:
        return None
    if name.upper() not in LEVELS:
        raise Failure(f"{subject or '--global'}: {name!r} is none of {', '.join(LEVELS)}, {DEFAULT}")
    return name.upper()


def _set(client: RegistryClient, subject: str | None, level: str | None) -> str:
    if level is not None:
        client.put_config({"compatibility": level}, subject)
        return "done"
    try:
        client.delete_config(subject)
    except RegistryError as error:
        if error.status != 404:
            raise
        return "it had none"
    return "done"
