"""The fenced blocks of README.md and docs/: which of them are run here, which elsewhere, and which not.

A comment before a block of `console`, `sh`, `bash` or `python` says so if it is not run by tests/docs/test_examples.py:

    <!-- run by tests/FILE.py -->   a test of its own runs the block
    <!-- not run: REASON -->        nothing runs it
    <!-- exits with 1 -->           it is run here, and its command ends so; of several commands, each
    <!-- setup: COMMANDS -->        it is run here, after these commands of a shell, which readers do not see
    <!-- server HOST:PORT: COMMAND -->  it is run here, while this server runs, and so are the blocks after it
    <!-- until: HOST:PORT -->       it is run here in the background, until the page ends; waits until it listens
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LANGUAGES = ("console", "sh", "bash", "python")
#: Pages whose commands need tools that these tests lack -> the target of make that has them.
OTHER_TOOLS = {
    "docs/capacity.md": "bench-capacity",
    "docs/deploy.md": "image-test",
    "docs/kubernetes.md": "chart-test",
}
#: Pages that are made from --help, whose examples tests/structure/test_commands.py parses.
GENERATED = "docs/commands/"
_FENCE = re.compile(r"^```(?P<language>[\w-]*)[^\n`]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_LAST_COMMENTS = re.compile(r"(?:<!--(?:(?!-->).)*-->[ \t]*\n)+\Z", re.DOTALL)
_MARKS = re.compile(r"<!--\s*(run by|not run:|exits with|setup:|server|until:)\s*(.*?)\s*-->", re.DOTALL)
#: The end of the line before a block which names the file that holds it.
_FILE = re.compile(r"`([\w./-]+\.(?:avsc|json|jsonl|proto|properties|py|sql|toml|txt|ya?ml))`[^`\n]*:\s*\Z")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Args:
        page: the page's path from the root of the checkout.
        line: the line of its first fence, from 1.
        language: what the fence names.
        text: the lines between the fences.
        file: the file that holds this text; None if it has none.
        elsewhere: the test that runs it; None without a mark.
        reason: why it is not run; None without a mark.
        exit_codes: what its commands end with; 0 for those that have none here.
        setup: commands that run before it.
        server: the address and the command of a server that runs from here on; empty if there is none. It stops the
            server that had the address before.
        until: the address at which it listens, if it is run in the background; otherwise empty.

    """

    page: str
    line: int
    language: str
    text: str
    file: str | None
    elsewhere: str | None
    reason: str | None
    exit_codes: Sequence[int]
    setup: str
    server: tuple[str, str]
    until: str

    @property
    def name(self) -> str:
        """Page and line."""
        return f"{self.page}:{self.line}"

    @property
    def is_run_here(self) -> bool:
        """Whether it is a block of commands or code without a mark that exempts it."""
        return self.language in LANGUAGES and self.file is None and self.elsewhere is None and self.reason is None


def pages() -> list[str]:
    """Return the pages whose blocks count."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [str(path.relative_to(ROOT)) for path in found]
    return [name for name in names if name not in OTHER_TOOLS and not name.startswith(GENERATED)]


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page in their order."""
    yield from parsed((ROOT / page).read_text(encoding="utf-8"), page)


def parsed(text: str, page: str) -> Iterator[Block]:
    """Yield the blocks of a text."""
    end = 0
    for match in _FENCE.finditer(text):
        before = text[end : match.start()]
        end = match.end()
        comments = _LAST_COMMENTS.search(before)
        marks = dict(_MARKS.findall(comments[0])) if comments else {}
        file = _FILE.search(re.sub(r"<!--.*?-->", "", before, flags=re.DOTALL).rstrip() + "\n")
        yield Block(
            page=page,
            line=text.count("\n", 0, match.start()) + 1,
            language=match["language"],
            text=match["text"],
            file=file[1] if file else None,
            elsewhere=marks.get("run by"),
            reason=marks.get("not run:"),
            exit_codes=[int(code) for code in marks.get("exits with", "").split()],
            setup=marks.get("setup:", ""),
            server=_server(marks.get("server", "")),
            until=marks.get("until:", ""),
        )


def _server(mark: str) -> tuple[str, str]:
    address, _, command = mark.partition(": ")
    return address, command
