from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tools.release import check, versions, workflows
from tools.release.artifacts import unequal
from tools.release.step import ROOT, StepFailed, Work
from tools.release.versions import places

HASH = "de0fac2e4500dabe0009e67214ff5f5447ce83dd"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"- uses: actions/checkout@{HASH} # v6.0.2", []),
        ("- uses: actions/checkout@v6", ["uses: actions/checkout@v6"]),
        (f"- uses: actions/checkout@{HASH}", [f"uses: actions/checkout@{HASH}"]),
        (f"- uses: actions/checkout@{HASH[:12]} # v6.0.2", [f"uses: actions/checkout@{HASH[:12]} # v6.0.2"]),
    ],
)
def test_an_action_needs_a_whole_hash_and_its_version(line: str, expected: list[str]) -> None:
    assert workflows.without_hash(f"    steps:\n      {line}\n") == expected


def test_every_action_of_ours_is_pinned() -> None:
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert {"ci.yml", "release.yml"} <= {file.name for file in files}
    assert [line for file in files for line in workflows.without_hash(file.read_text(encoding="utf-8"))] == []


def test_the_same_version_stands_everywhere() -> None:
    import magicbyte  # noqa: PLC0415 - the version to compare with

    found = list(places(ROOT))
    assert [place for place, version in found if version != magicbyte.__version__] == []
    assert {place.partition(":")[0] for place, _ in found} >= {
        "README.md",
        "examples/ci/.pre-commit-config.yaml",
        "magicbyte/__init__.py",
        "openapi/registry.yaml",
        "openapi/rest-proxy-v2.yaml",
        "openapi/rest-proxy-v3.yaml",
        "openapi/ui.yaml",
        "pyproject.toml",
    }


def test_another_version_is_named_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.3.0"\n')
    (tmp_path / "README.md").write_text("\n\npip install dist/magicbyte-0.2.0-py3-none-any.whl\n")
    monkeypatch.setattr(versions, "run", lambda *_, **__: "v0.4.0\n")
    with pytest.raises(StepFailed) as failed:
        versions.version(Work(tmp_path, tmp_path, "0.3.0"))
    assert str(failed.value).splitlines() == [
        "pyproject.toml has 0.3.0, but",
        "README.md:3 has 0.2.0",
        "the commit has the tag v0.4.0, not v0.3.0",
    ]


def test_archives_that_differ_are_named_with_the_file(tmp_path: Path) -> None:
    for folder, text in (("one", "a"), ("other", "b")):
        (tmp_path / folder).mkdir()
        with zipfile.ZipFile(tmp_path / folder / "w.whl", "w") as archive:
            archive.writestr("same.py", "same")
            archive.writestr("module.py", text)
    (tmp_path / "one" / "s.tar.gz").write_bytes(b"x")
    assert unequal(tmp_path / "one", tmp_path / "one") == []
    assert unequal(tmp_path / "one", tmp_path / "other") == ["s.tar.gz was built only once", "w.whl: module.py"]


def test_entries_under_unreleased_hold_a_release_up(tmp_path: Path) -> None:
    changelog = tmp_path / "CHANGELOG.md"
    work = Work(tmp_path, tmp_path, "0.3.0")
    changelog.write_text("# Changelog\n\n## Unreleased\n\n## 0.3.0 (2027-02-01)\n\n- A.\n- B.\n")
    assert versions.changelog(work) == "0.3.0 of 2027-02-01, 2 lines"
    changelog.write_text("# Changelog\n\n## Unreleased\n\n- C.\n\n## 0.3.0 (2027-02-01)\n\n- A.\n")
    with pytest.raises(StepFailed, match=r"^1 lines are still under Unreleased$"):
        versions.changelog(work)


def test_a_failed_step_names_its_remedy_and_the_others_still_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: Work) -> str:
        raise StepFailed("line 3 is wrong")

    steps = (
        check.Step("tree", fails, "repair line 3"),
        check.Step("lock", lambda _: "all is well", "-"),
        check.Step("test", fails, "-", is_quick=False),
    )
    monkeypatch.setattr(check, "STEPS", steps)
    monkeypatch.setattr(check, "clone", lambda folder: Work(folder, folder, "0.3.0"))
    assert check.main(["--quick"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "tree       FAILED line 3 is wrong (0 s)",
        f"{'':<17} remedy: repair line 3",
        "lock       ok     all is well (0 s)",
        "not ready: tree failed",
    ]
    assert check.main(["--only", "lock"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "magicbyte 0.3.0: 1 steps passed; left out: tree, test"
