"""`magicbyte key`: random credentials for programs, presented as user name and password."""

from __future__ import annotations

import argparse
import secrets
from base64 import b32encode
from collections.abc import Sequence

from magicbyte.cli.security.options import add_bounds, add_file, bounds
from magicbyte.kit.command_line import CommandParser
from magicbyte.security.sign_in.edit_users import Line, changing, open_users
from magicbyte.security.sign_in.password_hash import hash_key

_ID, _SECRET = "mbk_", "mbs_"


def main(arguments: Sequence[str]) -> int:
    """Create, list or remove keys of a users file; returns the exit code."""
    parser = CommandParser(
        prog="magicbyte key",
        description=__doc__,
        examples=("magicbyte key create --principal User:billing --file users",),
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    create = commands.add_parser(
        "create",
        help="make a key and print its secret, once",
        description="Make a key and print its secret, once.",
        examples=("magicbyte key create --principal User:billing --expires 90d --file users",),
    )
    create.add_argument("--principal", required=True, metavar="User:NAME", help="who the key stands for")
    add_bounds(create)
    show = commands.add_parser(
        "list",
        help="show all keys, without their hashes",
        description="Show all keys, without their hashes.",
        examples=("magicbyte key list --file users",),
    )
    remove = commands.add_parser(
        "remove",
        help="remove a key",
        description="Remove a key.",
        examples=("magicbyte key remove mbk_a1 --file users",),
    )
    remove.add_argument("id", metavar="ID", help="the id of the key, such as mbk_a1")
    for command, run in ((create, _create), (show, _list), (remove, _remove)):
        command.set_defaults(run=run)
        add_file(command)
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code


def _create(options: argparse.Namespace) -> int:
    name = _ID + b32encode(secrets.token_bytes(10)).decode().lower()
    secret = _SECRET + secrets.token_urlsafe(32)
    line = Line(name, hash_key(secret), {"principal": options.principal, **bounds(options)})
    with changing(options.file) as users:
        users.add(line)
    print(f"id:     {name}\nsecret: {secret}")
    return 0


def _list(options: argparse.Namespace) -> int:
    for line in open_users(options.file).users():
        if line.name.startswith(_ID):
            print(" ".join((line.name, *(f"{key}={value}" for key, value in line.options.items()))))
    return 0


def _remove(options: argparse.Namespace) -> int:
    with changing(options.file) as users:
        users.remove(options.id)
    return 0
