"""The release check as a user runs it, without the suites; and the linters of workflow files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.release.step import ROOT, StepFailed
from tools.release.workflows import check

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def tools() -> None:
    """The environment of deploy/requirements.lock."""
    subprocess.run(["make", ".venv-deploy/installed"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.usefixtures("tools")
def test_the_last_commit_can_be_released_as_far_as_it_says(tmp_path: Path) -> None:
    # Without npm, the wheel has the page's modules as they lie, which is no release.
    built = ["contents"] if shutil.which("npm") else []
    names = ["version", "lock", "workflows", "build", *built, "sbom", "pip", "uv", "pipx"]
    done = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "tools.release.check", "--dist", tmp_path / "dist"),
            *(word for name in names for word in ("--only", name)),
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines[:-1]] == [[name, "ok"] for name in names]
    assert lines[-1].endswith(", audit, licences")
    assert sorted(path.suffix for path in (tmp_path / "dist").iterdir()) == [".gz", ".whl"]
    assert len(list((tmp_path / "dist-sboms").iterdir())) == 3


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("runs-on: ubuntu-latest", "runs-on: ubuntu-oldest", "ubuntu-oldest"),
        ("run: make lint", "run: echo ${{ github.event.pull_request.title }}", "template-injection"),
        (" # v6.0.2", "", "actions need a full commit hash"),
    ],
)
def test_a_defect_of_a_workflow_file_is_found(tmp_path: Path, old: str, new: str, told: str) -> None:
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    shutil.copyfile(ROOT / "action.yml", tmp_path / "action.yml")
    file = tmp_path / ".github" / "workflows" / "ci.yml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(StepFailed, match=told):
        check(tmp_path)
