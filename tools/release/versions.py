"""The steps about the version: the same one everywhere, and in CHANGELOG.md with a date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tools.release.notes import heading_of
from tools.release.step import StepFailed, Work, run

#: Where the version stands: files, and the pattern of each place in them.
PLACES = (
    ("pyproject.toml", r'^version = "([^"]+)"'),
    ("magicbyte/__init__.py", r'^__version__ = "([^"]+)"'),
    ("openapi/*.yaml", r"^  version: (\S+)"),
    # Names of wheels: `dist/magicbyte-0.2.0-py3-none-any.whl`.
    ("README.md", r"magicbyte-(\d[\w.]*)-py3"),
    ("SECURITY.md", r"magicbyte-(\d[\w.]*)-py3"),
    ("SECURITY.md", r"(?:verify v|magicbyte:)(\d[\w.]*)"),
    ("docs/*.md", r"magicbyte-(\d[\w.]*)-py3"),
    ("examples/**/*.y*ml", r"magicbyte-(\d[\w.]*)-py3"),
    # The action and the hook of pre-commit at a tag.
    ("README.md", r"magicbyte@v(\d[\w.]*)"),
    ("docs/*.md", r"magicbyte@v(\d[\w.]*)"),
    ("deploy/helm/*/Chart.yaml", r'^(?:appVersion|version): "?([^"\s]+)'),
    ("deploy/**/compose*.yaml", r"image: \S*magicbyte(?:-spark)?:(\d[\w.]*)"),
)


def version(work: Work) -> str:
    """Check that all places have the version of pyproject.toml, and that a tag of this commit has it, too."""
    found = list(places(work.source))
    wrong = [f"{place} has {text}" for place, text in found if text != work.version]
    tags = run("git", "tag", "--points-at", "HEAD", folder=work.source).split()
    if tags and f"v{work.version}" not in tags:
        wrong.append(f"the commit has the tag {', '.join(tags)}, not v{work.version}")
    if wrong:
        raise StepFailed(f"pyproject.toml has {work.version}, but\n" + "\n".join(wrong))
    tagged = f"tagged v{work.version}" if tags else f"not tagged yet: `git tag --sign v{work.version}`"
    return f"{work.version} in {len(found)} places; {tagged}"


def places(source: Path) -> Iterator[tuple[str, str]]:
    """Yield `file:line` and version of each place."""
    for files, pattern in PLACES:
        for path in sorted(source.glob(files)):
            text = path.read_text(encoding="utf-8")
            for match in re.finditer(pattern, text, re.MULTILINE):
                line = text.count("\n", 0, match.start(1)) + 1
                yield f"{path.relative_to(source)}:{line}", match[1]


def changelog(work: Work) -> str:
    """Check that CHANGELOG.md has the version, with a date, as its newest release."""
    heading = heading_of((work.source / "CHANGELOG.md").read_text(encoding="utf-8"), work.version)
    if heading.unreleased:
        raise StepFailed(f"{heading.unreleased} lines are still under Unreleased")
    return f"{heading.version} of {heading.date}, {heading.lines} lines"
