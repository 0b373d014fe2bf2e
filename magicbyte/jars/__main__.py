"""`python -m magicbyte.jars fetch|verify|lock NAME...`: fill and check the cache of jars, or write a lock file anew."""

from __future__ import annotations

import argparse
import sys

from magicbyte.failure import Failure, say
from magicbyte.jars import LOCKS, paths, verify


def main() -> int:
    """Run one of the three commands; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte.jars", description=__doc__)
    parser.add_argument("command", choices=("fetch", "verify", "lock"))
    parser.add_argument("names", nargs="+", choices=LOCKS, metavar="NAME", help=" or ".join(LOCKS))
    arguments = parser.parse_args()
    try:
        for name in arguments.names:
            _COMMANDS[arguments.command](name)
    except Failure as failure:
        say(str(failure))
        return 1
    return 0


def _fetch(name: str) -> None:
    paths(name)


def _verify(name: str) -> None:
    for jar in verify(name):
        say(f"{name}: {jar.coordinates} was missing or damaged")
    paths(name)


def _lock(name: str) -> None:
    from magicbyte.jars.lock import write_lock  # noqa: PLC0415 - a maintainer's command

    say(f"{name}: {write_lock(name)} jars")


_COMMANDS = {"fetch": _fetch, "verify": _verify, "lock": _lock}

if __name__ == "__main__":
    sys.exit(main())
