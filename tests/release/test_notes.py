from __future__ import annotations

import pytest

from tools.release.notes import Heading, heading_of, main, notes, sections
from tools.release.step import ROOT, StepFailed

CHANGELOG = """\
# Changelog

## Unreleased

## 0.3.0 (2027-02-01)

### Registry

- A line that
  goes on in the next one.
- Another.

### Page

- A third, with `code`.

## 0.2.0 (2026-11-27)

- Earlier.
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CHANGELOG, Heading("0.3.0", "2027-02-01", 3, 0)),
        (CHANGELOG.replace("## Unreleased\n", "## Unreleased\n\n- New.\n"), Heading("0.3.0", "2027-02-01", 3, 1)),
        (CHANGELOG.replace("## Unreleased\n\n", ""), Heading("0.3.0", "2027-02-01", 3, 0)),
    ],
)
def test_the_newest_release_is_read(text: str, expected: Heading) -> None:
    assert heading_of(text, "0.3.0") == expected


@pytest.mark.parametrize(
    ("text", "version", "told"),
    [
        ("# Changelog\n\n## Unreleased\n\n- New.\n", "0.3.0", "has no heading `## 0.3.0 (YYYY-MM-DD)`"),
        (CHANGELOG, "0.2.0", "newest release is `## 0.3.0 (2027-02-01)`, not `## 0.2.0 (YYYY-MM-DD)`"),
        (CHANGELOG.replace(" (2027-02-01)", ""), "0.3.0", "newest release is `## 0.3.0`, not `## 0.3.0 (YYYY-MM-DD)`"),
        (CHANGELOG.replace("2027-02-01", "2027-02-30"), "0.3.0", "2027-02-30 is no date"),
        (
            "# Changelog\n\n## 0.3.0 (2027-02-01)\n\n## 0.2.0 (2026-11-27)\n\n- Earlier.\n",
            "0.3.0",
            "has no entry under",
        ),
    ],
)
def test_a_changelog_that_is_not_ready_is_refused(text: str, version: str, told: str) -> None:
    with pytest.raises(StepFailed) as failed:
        heading_of(text, version)
    assert told in str(failed.value)


def test_the_notes_have_one_line_for_each_entry_and_the_installation() -> None:
    text = notes(CHANGELOG, "0.3.0")
    assert text.startswith(
        "### Registry\n\n- A line that goes on in the next one.\n- Another.\n\n### Page\n\n- A third, with `code`.\n\n"
        "## Install\n\n    pip install 'magicbyte[server]==0.3.0'\n    uvx magicbyte==0.3.0 up --ephemeral\n"
    )
    assert "Earlier" not in text


def test_the_notes_of_this_changelog_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    released = [name for name in sections((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")) if name != "Unreleased"]
    version = released[0].split()[0]
    assert main([f"v{version}"]) == 0
    assert f"magicbyte=={version} up" in capsys.readouterr().out
    assert main(["9.9.9"]) == 1
    assert "not `## 9.9.9 (YYYY-MM-DD)`" in capsys.readouterr().err
    assert main([]) == 2
