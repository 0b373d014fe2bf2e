"""The options shared by the commands for users and keys."""

from __future__ import annotations

import argparse
import getpass
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from magicbyte.kit.failure import Failure

_DURATION = re.compile(r"(\d{1,5})([dhm])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the option for the users file."""
    parser.add_argument("--file", type=Path, required=True, metavar="FILE", help="the users file")


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add the options that limit when and from where credentials are valid."""
    parser.add_argument("--expires", metavar="TIME", help="such as 90d, 12h or 2027-01-31T00:00:00Z")
    parser.add_argument("--networks", metavar="CIDR,..", help="the networks it may be used from")
    parser.add_argument("--groups", metavar="GROUP,..", help="the groups it belongs to")


def bounds(options: argparse.Namespace) -> dict[str, str]:
    """Return the limits in the form of a users file.

    Raises:
        Failure: The time is not valid.
    """
    limits = {
        "groups": options.groups,
        "expires": options.expires and _expiry(options.expires),
        "from": options.networks,
    }
    return {name: value for name, value in limits.items() if value}


def read_password(prompt: str, *, from_stdin: bool, twice: bool = False) -> str:
    """Ask for a password, or read it from standard input; never from an argument, which others can see.

    Raises:
        Failure: The two entries differ, or the password is empty.
    """
    password = sys.stdin.readline().rstrip("\r\n") if from_stdin else getpass.getpass(f"{prompt}: ")
    if twice and not from_stdin and getpass.getpass("Again: ") != password:
        raise Failure("the two passwords differ")
    if not password:
        raise Failure("there is no password")
    return password


def _expiry(text: str) -> str:
    match = _DURATION.fullmatch(text)
    if match is None:
        return text
    end = datetime.now(UTC) + timedelta(**{_UNITS[match[2]]: int(match[1])})
    return end.strftime("%Y-%m-%dT%H:%M:%SZ")
