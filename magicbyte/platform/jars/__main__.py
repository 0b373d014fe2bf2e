"""`python -m magicbyte.platform.jars fetch|verify|lock [NAME...]`: fill or check the cache of jars, or write a lock."""

from __future__ import annotations

import argparse
import contextlib
import sys
from importlib import metadata

from magicbyte.kit.failure import Failure, say
from magicbyte.platform.jars import KAFKA_VERSION, LOCKS, paths, verify


def main() -> int:
    """Run one of the three commands and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte.platform.jars", description=__doc__)
    parser.add_argument("command", choices=("fetch", "verify", "lock"))
    names_help = "lock files; by default those of the default Kafka and of the installed PySpark: "
    parser.add_argument("names", nargs="*", metavar="NAME", help=names_help + ", ".join(LOCKS))
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(LOCKS):
        parser.error(f"there is no lock file {min(unknown)}, only {', '.join(LOCKS)}")
    try:
        for name in arguments.names or _default_names():
            _COMMANDS[arguments.command](name)
    except Failure as failure:
        say(str(failure))
        return 1
    return 0


def _default_names() -> list[str]:
    names = [f"broker-{KAFKA_VERSION}"]
    with contextlib.suppress(metadata.PackageNotFoundError):
        names.append(f"spark-{metadata.version('pyspark')}")
    return [name for name in names if name in LOCKS]


def _fetch(name: str) -> None:
    paths(name)


def _verify(name: str) -> None:
    for jar in verify(name):
        say(f"{name}: {jar.coordinates} was missing or damaged")
    paths(name)


def _lock(name: str) -> None:
    from magicbyte.platform.jars.lock import write_lock  # noqa: PLC0415 - a maintainer's command

    say(f"{name}: {write_lock(name)} jars")


_COMMANDS = {"fetch": _fetch, "verify": _verify, "lock": _lock}

if __name__ == "__main__":
    sys.exit(main())
