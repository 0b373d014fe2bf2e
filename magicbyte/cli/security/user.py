"""`magicbyte user`: the users that sign in with a password."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from magicbyte.cli.security.options import add_bounds, add_file, bounds, read_password
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure, say
from magicbyte.security.sign_in.edit_users import Line, changing, open_users
from magicbyte.security.sign_in.password_hash import hash_password, parse_hash

_SHORTEST = 12


def main(arguments: Sequence[str]) -> int:
    """Change or show a users file; returns the exit code, which is 1 if `verify` gets a wrong password."""
    parser = CommandParser(
        prog="magicbyte user", description=__doc__, examples=("magicbyte user add alice --file users",)
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text, run, example in (
        ("add", "add a user", _add, "alice --groups admins --expires 90d"),
        ("passwd", "set another password", _passwd, "alice --password-stdin"),
        ("disable", "let nobody sign in under this name", _disable, "alice"),
        ("enable", "undo disable", _enable, "alice"),
        ("remove", "remove a user", _remove, "alice"),
        ("verify", "tell whether a password is the user's", _verify, "alice"),
        ("list", "show all users, without their hashes", _list, ""),
        ("import", "take over the users of a Jetty property file", _import, "password.properties"),
    ):
        line = " ".join(("magicbyte user", name, *example.split(), "--file users"))
        command = commands.add_parser(name, help=text, description=text, examples=(line,))
        command.set_defaults(run=run)
        if name == "import":
            command.add_argument("source", type=Path, metavar="PROPERTIES", help="lines such as alice: password,role")
        elif name != "list":
            command.add_argument("name", metavar="NAME", help="the user's name")
        if name in ("add", "passwd", "verify"):
            command.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
        if name in ("add", "passwd"):
            command.add_argument("--weak", action="store_true", help=f"allow fewer than {_SHORTEST} characters")
        if name == "add":
            add_bounds(command)
        add_file(command)
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code


def _new_hash(options: argparse.Namespace) -> str:
    password = read_password(f"Password of {options.name}", from_stdin=options.password_stdin, twice=True)
    if len(password) < _SHORTEST and not options.weak:
        raise Failure(f"the password has fewer than {_SHORTEST} characters; --weak allows that")
    return hash_password(password)


def _add(options: argparse.Namespace) -> int:
    line = Line(options.name, _new_hash(options), bounds(options))
    with changing(options.file) as users:
        users.add(line)
    return 0


def _passwd(options: argparse.Namespace) -> int:
    hashed = _new_hash(options)
    with changing(options.file) as users:
        line = users.user(options.name)
        users.replace(Line(line.name, hashed, line.options))
    return 0


def _disable(options: argparse.Namespace) -> int:
    with changing(options.file) as users:
        line = users.user(options.name)
        users.replace(Line(line.name, line.hash, {**line.options, "disabled": "true"}))
    return 0


def _enable(options: argparse.Namespace) -> int:
    with changing(options.file) as users:
        line = users.user(options.name)
        left = {key: value for key, value in line.options.items() if key != "disabled"}
        users.replace(Line(line.name, line.hash, left))
    return 0


def _remove(options: argparse.Namespace) -> int:
    with changing(options.file) as users:
        users.remove(options.name)
    return 0


def _verify(options: argparse.Namespace) -> int:
    password = read_password(f"Password of {options.name}", from_stdin=options.password_stdin)
    line = open_users(options.file).user(options.name)
    matches = parse_hash(line.hash).verify(password.encode())
    say(f"this is {'' if matches else 'not '}the password of {options.name}")
    return 0 if matches else 1


def _list(options: argparse.Namespace) -> int:
    for line in open_users(options.file).users():
        told = " ".join(f"{key}={value}" for key, value in line.options.items())
        print(f"{line.name} {told}".rstrip())
    return 0


def _import(options: argparse.Namespace) -> int:
    from magicbyte.kit.properties_file import read_properties_file  # noqa: PLC0415  of no use to the other commands
    from magicbyte.security.sign_in.jaas import plain_password  # noqa: PLC0415

    try:
        properties = read_properties_file(options.source)
    except (OSError, UnicodeDecodeError):
        raise Failure(f"{options.source} cannot be read as UTF-8 text") from None
    left: list[str] = []
    with changing(options.file) as users:
        for name, value in properties.items():
            stored, *roles = (part.strip() for part in value.split(","))
            try:
                password = plain_password(stored)
            except ValueError:
                password = None
            if password is None:
                left.append(name)
            else:
                users.add(Line(name, hash_password(password), {"groups": ",".join(filter(None, roles))}))
    if left:
        say(f"no password is known of {', '.join(left)}, only a hash; set new ones with `magicbyte user add`")
    return 1 if left else 0
