"""The units of the servers: files of the package, with the path of this installation's command."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from magicbyte.cli.systemd.unit_text import command

SERVERS = ("registry", "rest-proxy")
#: The command in the files.
_PROGRAM = "/opt/magicbyte/bin/magicbyte"
#: Folders that a unit with ProtectHome and PrivateTmp does not see.
_HIDDEN = ("/home", "/root", "/run/user", "/tmp", "/var/tmp")  # noqa: S108  nothing is written there


def unit_name(server: str) -> str:
    """The file name of a server's unit."""
    return f"magicbyte-{server}.service"


def unit_of(server: str, program: Sequence[str]) -> str:
    """The text of a server's unit.

    Args:
        server: One of `SERVERS`.
        program: The absolute path of the command, and the words that come before its arguments.

    Raises:
        Ended: systemd runs no program of that name.
    """
    return (
        (_folder() / unit_name(server)).read_text(encoding="utf-8").replace(_PROGRAM, command(program[0], program[1:]))
    )


def settings_of(server: str) -> str:
    """The settings that a server begins with."""
    return (_folder() / f"{server}.properties").read_text(encoding="utf-8")


def hidden_place(*needed: str) -> str:
    """The first of some paths that the unit would not see; empty if it sees all of them."""
    return next((path for path in needed if any(map(Path(path).is_relative_to, _HIDDEN))), "")


@cache
def _folder() -> Path:
    """The folder of the files: in a wheel, or in a checkout."""
    packaged = Path(__file__).parents[2] / "systemd"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "deploy" / "systemd"
