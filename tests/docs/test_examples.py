"""The blocks of README.md and docs/ run against real servers, as they stand there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import LANGUAGES, ROOT, Block, blocks, pages, parsed
from tests.docs.page_run import PageRun, Servers, commands, fits

BLOCKS = [block for page in pages() for block in blocks(page)]
#: Pages that are run with the core; the others are run with the slow tests.
IN_CORE = ("README.md",)
#: The blocks of commands and code that nothing runs. The number may fall; a further block needs a test instead.
NOT_RUN = 46


def run_here() -> list[Any]:
    counted = Counter(block.page for block in BLOCKS if block.is_run_here)
    return [pytest.param(page, marks=() if page in IN_CORE else pytest.mark.slow) for page in counted]


@pytest.mark.parametrize("page", run_here())
def test_the_blocks_of_a_page_run(
    page: str,
    schema_registry: Any,
    kafka_broker: Any,
    rest_proxy: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    servers = Servers(kafka_broker.bootstrap_servers, schema_registry.url, rest_proxy.url)
    run = PageRun(servers, tmp_path)
    try:
        for block in blocks(page):
            if block.is_run_here or (block.file and block.elsewhere is None):
                run.run(block)
    finally:
        run.stop()


def test_every_block_is_run_or_says_why_not():
    not_run = [block for block in BLOCKS if block.language in LANGUAGES and block.reason is not None]
    assert [block.name for block in not_run if not block.reason] == []
    assert len(not_run) <= NOT_RUN, "\n".join(f"{block.name}: {block.reason}" for block in not_run)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.elsewhere], ids=lambda block: block.name)
def test_a_block_that_is_run_elsewhere_names_a_test(block: Block):
    path = ROOT / str(block.elsewhere)
    assert path.name.startswith("test_")
    assert Path(block.page).name in path.read_text(encoding="utf-8"), "it does not read this page"


def test_blocks_have_a_language_and_no_page_has_indented_ones():
    assert [block.name for block in BLOCKS if not block.language] == []
    for page in pages():
        outside = (ROOT / page).read_text(encoding="utf-8").split("```")[::2]
        lines = [line for text in outside for line in text.replace("\n\n    ", "\n\n\0").split("\n") if "\0" in line]
        assert lines == [], page


def test_marks_and_files_are_read():
    text = (
        "<!-- not run: why -->\n```sh\na\n```\n\nIt is `b.json`:\n\n```json\n{}\n```\n"
        "<!-- run by tests/x.py -->\n```python\nc\n```\n<!-- exits with 2 -->\n<!-- setup: echo 1 -->\n"
        "```console\n$ d\n```\n\n```sh\ne\n```\n"
    )
    found = list(parsed(text, "p.md"))
    assert [block.line for block in found] == [2, 8, 12, 17, 21]
    assert [block.reason for block in found] == ["why", None, None, None, None]
    assert [block.file for block in found] == [None, "b.json", None, None, None]
    assert [block.elsewhere for block in found] == [None, None, "tests/x.py", None, None]
    assert [(block.exit_codes, block.setup) for block in found[3:]] == [([2], "echo 1"), ([], "")]
    assert [block.is_run_here for block in found] == [False, False, False, True, True]


def test_the_runner_distinguishes_prompts_and_outputs():
    text = "$ a \\\n    -b\n1\n2\n$ c '{\n}'\n$ d\n...\n"
    assert list(commands(text)) == [("a \\\n    -b", "1\n2"), ("c '{\n}'", ""), ("d", "...")]


@pytest.mark.parametrize(
    ("printed", "expected", "result"),
    [
        ("a\nb\n", "a\nb", True),
        ("a\nc\n", "a\nb", False),
        ("a\nb\nc\n", "a\nb", False),
        ("id 17, x\n", "id ..., x", True),
        ("id 17, y\n", "id ..., x", False),
        ("1\n2\n3\n", "1\n...\n3", True),
        ("1\n3\n", "1\n...\n3", True),
        ("1\n2\n4\n", "1\n...\n3", False),
    ],
)
def test_an_output_fits(printed: str, expected: str, result: bool):
    assert fits(printed, expected) is result
