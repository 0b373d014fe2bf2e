"""The text of a GitHub release, from CHANGELOG.md: `python -m tools.release.notes 0.2.0`."""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tools.release.step import ROOT, StepFailed

_HEADING = re.compile(r"^## (?P<version>\d+\.\d+\.\d+\S*) \((?P<date>\d{4}-\d{2}-\d{2})\)$")

_INSTALL = """\
## Install

    pip install 'magicbyte[server]=={version}'
    uvx magicbyte=={version} up --ephemeral

SECURITY.md says how to check where the wheel and the images were built. The wheel's `dist-info/sboms/` lists what pip
installs with it.
"""


@dataclass(frozen=True, slots=True)
class Heading:
    """The newest release in CHANGELOG.md: its version and date, its entries, and the entries under Unreleased."""

    version: str
    date: str
    lines: int
    unreleased: int


def sections(text: str) -> dict[str, str]:
    """Return the text under each `## ` heading of a changelog, newest first."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {heading.strip(): body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}


def heading_of(text: str, version: str) -> Heading:
    """Return the newest release of a changelog.

    Args:
        text: CHANGELOG.md.
        version: The version that it must have.

    Raises:
        StepFailed: the newest release is another one, has no date or no entry, or its date does not exist.
    """
    entries = sections(text)
    released = [heading for heading in entries if heading != "Unreleased"]
    if not released:
        raise StepFailed(f"CHANGELOG.md has no heading `## {version} (YYYY-MM-DD)`")
    heading = _HEADING.match(f"## {released[0]}")
    if heading is None or heading["version"] != version:
        raise StepFailed(f"CHANGELOG.md's newest release is `## {released[0]}`, not `## {version} (YYYY-MM-DD)`")
    try:
        dt.date.fromisoformat(heading["date"])
    except ValueError as error:
        raise StepFailed(f"CHANGELOG.md: {heading['date']} is no date: {error}") from None
    lines = _count(entries[released[0]])
    if not lines:
        raise StepFailed(f"CHANGELOG.md has no entry under `## {released[0]}`")
    return Heading(version, heading["date"], lines, _count(entries.get("Unreleased", "")))


def _count(body: str) -> int:
    return len(re.findall(r"^- ", body, re.MULTILINE))


def notes(text: str, version: str) -> str:
    """Return the release's text: its entries with each on one line, and how to install it.

    Args:
        text: CHANGELOG.md.
        version: The version to release.

    Raises:
        StepFailed: as for `heading_of`.
    """
    heading = heading_of(text, version)
    body = sections(text)[f"{heading.version} ({heading.date})"]
    # GitHub shows a line break in a release's text as a line break.
    unwrapped = re.sub(r"(?<=\S)\n(?:  )?(?=[^\s#|-])", " ", body)
    return f"{unwrapped}\n\n{_INSTALL.format(version=version)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the notes of the version in the first argument, and return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) != 1:
        print("usage: python -m tools.release.notes VERSION", file=sys.stderr)
        return 2
    try:
        print(notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), words[0].removeprefix("v")), end="")
    except StepFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
