"""Moves between registries of other vendors and ours, both ways, with Confluent's readers after each.

    PYTHONPATH=. python -P tests/peers/run.py

A peer that cannot be had here is named and left out.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from magicbyte.kit.processes.process import temporary_folder
from magicbyte.testing import running_registry
from tests.peers import axonops, readers
from tests.peers.made_registry import fill
from tests.peers.takeover import TAKEOVERS

#: Move -> the kinds of differences that the other side cannot help, by `magicbyte diff`.
CANNOT_HOLD: Mapping[str, frozenset[str]] = {
    # It tells no times, and not whether a level is set or its default.
    "axonops -> magicbyte": frozenset({"ts"}),
    "magicbyte -> axonops": frozenset({"ts"}),
}


@dataclass
class Report:
    """The checks that failed."""

    wrong: list[str] = field(default_factory=list)

    def expect(self, name: str, found: object, wanted: object) -> None:
        """Print a line, and remember it if it is not as it should be."""
        good = found == wanted
        print(
            f"{'ok  ' if good else 'FAIL'} {name}" + ("" if good else f": {found!r}, expected {wanted!r}"), flush=True
        )
        if not good:
            self.wrong.append(name)


def magicbyte(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    command = (sys.executable, "-P", "-m", "magicbyte.cli.main", *map(str, arguments))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 100):
        print(f"     magicbyte {' '.join(map(str, arguments))}\n     {done.stderr.strip()}")
    return done


def move(report: Report, name: str, source: str, target: str, folder: Path) -> None:
    """Back up, restore, verify and compare; Confluent's readers read at the target what was written at the source."""
    file = folder / f"{name.replace(' ', '')}.ndjson"
    written = readers.write(source)
    report.expect(f"{name}: read where it was written", readers.unread(source, written), [])
    report.expect(f"{name}: backup", magicbyte("backup", source, "-o", file).returncode, 0)
    report.expect(f"{name}: restore", magicbyte("restore", file, "--to", target).returncode, 0)
    ignored = CANNOT_HOLD[name]
    options = ("--ignore", ",".join(sorted(ignored))) if ignored else ()
    compared = magicbyte("diff", source, target, "--format", "json", *options)
    report.expect(f"{name}: differences besides {', '.join(sorted(ignored)) or 'none'}", _shown(compared.stdout), [])
    report.expect(f"{name}: read at the target", readers.unread(target, written), [])


def _shown(text: str) -> object:
    try:
        return json.loads(text)["differences"]
    except (ValueError, KeyError):
        return text


def with_axonops(report: Report, folder: Path) -> None:
    """Moves from AxonOps' server, and back into a fresh one."""
    program = axonops.program()
    if program is None:
        return
    with axonops.running(program) as theirs, running_registry() as ours, axonops.running(program) as back:
        fill(theirs)
        checked = magicbyte("migrate", "preflight", "--from", theirs, "--to", ours.url, "--output", "json")
        report.expect("axonops: preflight is ready", checked.returncode, 0)
        report.expect("axonops: vendor", json.loads(checked.stdout)["origin"]["vendor"], "axonops")
        move(report, "axonops -> magicbyte", theirs, ours.url, folder)
        move(report, "magicbyte -> axonops", ours.url, back, folder)


PEERS: Mapping[str, Callable[[Report, Path], None]] = {"axonops": with_axonops}


def main() -> int:
    """Run all moves; returns the exit code."""
    report = Report()
    folder = temporary_folder("magicbyte-peers-")
    try:
        for run in PEERS.values():
            run(report, folder)
        for takeover in TAKEOVERS:
            takeover(report.expect, magicbyte, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(report.wrong)} failed" if report.wrong else "all moves kept what they should")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
