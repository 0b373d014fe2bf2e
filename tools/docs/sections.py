"""The sections of the documentation site, and which pages each of them has.

A new page in docs/ is in the section whose patterns match its name, or in the last section that takes any name. So
whoever writes a page need not edit this table; the first name that matches also gives the order in the section.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Section:
    """A section of the table of contents.

    Args:
        title: its caption.
        patterns: page names without `.md`, in their order; `*` stands for any text.

    """

    title: str
    patterns: Sequence[str]


SECTIONS: Sequence[Section] = (
    Section("Start here", ("quickstart", "install", "from-confluent", "from-karapace", "migrat*")),
    Section("Tutorials", ("tutorial-evolution", "tutorial-checks", "tutorial-pipelines", "tutorial-*")),
    Section(
        "How-to guides",
        (
            "page",
            "check",
            "generated-records",
            "console",
            "topics",
            "contracts",
            "dead-letters",
            "spark",
            "pipelines",
            "pipelines-errors",
            "pipelines-connect",
            "pipelines-upkeep",
            "security-clients",
            "howto-*",
        ),
    ),
    Section(
        "Operate",
        (
            "operate",
            "deploy",
            "images",
            "compose",
            "kubernetes",
            "systemd",
            "security",
            "managed-kafka",
            "monitor*",
            "alerts",
            "runbook*",
            "logs",
            "traces",
            "backup*",
            "recover*",
            "mirror",
            "upgrade*",
            "capacity",
            "*",
        ),
    ),
    Section(
        "Reference",
        (
            "api/*",
            "registry-api",
            "rest-proxy",
            "commands",
            "commands/*",
            "completion",
            "config",
            "config-*",
            "configuration*",
            "serializers",
            "pipelines-reference",
            "python/*",
            "errors",
            "formats",
            "json-values",
            "compat-*",
            "metrics",
            "events",
            "versions",
            "registry-api-tests",
        ),
    ),
    Section("Explanation", ("explain-*", "design")),
    Section("Project", ("changelog", "release*", "support*", "security-policy", "contributing", "code-of-conduct")),
)


def by_section(pages: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Return the pages of each section: an exact name counts before a pattern, and the longest pattern counts first."""
    places: dict[str, list[tuple[int, str]]] = {section.title: [] for section in SECTIONS}
    for page in pages:
        title, place = _place(page)
        places[title].append((place, page))
    return {title: [page for _, page in sorted(found)] for title, found in places.items()}


def _place(page: str) -> tuple[str, int]:
    """The section of a page, and its place there."""
    matches = [
        (len(pattern.replace("*", "")), section.title, place)
        for section in SECTIONS
        for place, pattern in enumerate(section.patterns)
        if fnmatchcase(page, pattern)
    ]
    _, title, place = max(matches, key=lambda match: match[0])
    return title, place
