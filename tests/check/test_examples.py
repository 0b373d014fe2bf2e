"""examples/ci does what it says: its own schemas pass, and the tutorial's commands print what stands there."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "ci"


def steps(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a page, each with what it is to print."""
    command, printed = "", ""
    for line in text.splitlines():
        if line.startswith("    $ "):
            if command:
                yield command, printed
            command, printed = line.removeprefix("    $ "), ""
        elif line.startswith("    ") and command:
            printed += line.removeprefix("    ") + "\n"
        elif command and line:
            yield command, printed
            command = ""
    if command:
        yield command, printed


def test_the_tutorial_shows_the_real_output(tmp_path: Path):
    shutil.copytree(EXAMPLE / "tutorial", tmp_path / "tutorial")
    binaries = tmp_path / "bin"
    binaries.mkdir()
    command = binaries / "magicbyte"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m magicbyte.cli.main "$@"\n')
    command.chmod(0o755)
    identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = os.environ | identity | {"PATH": f"{binaries}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": os.devnull}
    number = 0
    for line, expected in steps((EXAMPLE / "TUTORIAL.md").read_text()):
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.stderr == "", line
        assert done.returncode == 0, line
        assert doctest.OutputChecker().check_output(expected, done.stdout, doctest.ELLIPSIS), (line, done.stdout)
        number += "magicbyte check" in line
    assert number == 9


def test_the_repository_passes_its_own_check(project: Any):
    shutil.copytree(EXAMPLE, project.folder, dirs_exist_ok=True)
    project.commit()
    code, out, _ = project.run("check")
    assert code == 0
    assert out.endswith("6 schemas checked, 0 findings\n")
    project.edit(
        "schemas/customers/customer.avsc", '"name": "phone", "type": "string"', '"name": "phone", "type": "int"'
    )
    assert project.places() == (
        100,
        ["schemas/customers/customer.avsc:9:23 TYPE_MISMATCH", "schemas/customers/customer.avsc:9:23 TYPE_MISMATCH"],
    )


def test_check_reports_the_declared_break_of_the_example(project: Any):
    shutil.copytree(EXAMPLE, project.folder, dirs_exist_ok=True)
    project.edit("magicbyte.toml", "2030-06-30", "2999-12-31")
    project.edit("schemas/customers/address.avsc", '"postcode", "type": "string"', '"postcode", "type": "int"')
    project.commit()
    project.edit("schemas/customers/address.avsc", '"postcode", "type": "int"', '"postcode", "type": "string"')
    code, out, _ = project.run("check")
    assert code == 0
    assert "address.avsc:8:26: declared: TYPE_MISMATCH" in out


@pytest.mark.parametrize(
    "file",
    [
        "action.yml",
        ".pre-commit-hooks.yaml",
        "examples/ci/.github/workflows/schemas.yml",
        "examples/ci/.gitlab-ci.yml",
        "examples/ci/.pre-commit-config.yaml",
    ],
)
def test_definitions_are_yaml(file: str):
    assert yaml.safe_load((ROOT / file).read_text())


def test_docs_and_examples_name_no_unpublished_version():
    """No tag of Magicbyte: users install its wheel until there is one."""
    readme = (ROOT / "README.md").read_text()
    assert "No version is on PyPI yet, and 0.2.0 is not tagged yet." in readme
    for folder in ("docs", "examples"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix not in {".md", ".yml", ".yaml"}:
                continue
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"magicbyte@v\d|rev: v\d|github\.com/magicbyte", text), file
            assert not re.search(r"(pip|uv tool|pipx) install (--\S+ )*magicbyte(\s|$)", text), file
    for name in (".github/workflows/schemas.yml", ".gitlab-ci.yml", ".pre-commit-config.yaml"):
        assert "vendor/magicbyte-" in (ROOT / "examples" / "ci" / name).read_text(), name


#: What GitHub's marketplace asks of an action: https://docs.github.com/actions/reference/metadata-syntax
COLORS = {"white", "black", "yellow", "blue", "green", "orange", "red", "purple", "gray-dark"}
LONGEST_DESCRIPTION = 125


def test_the_action_has_the_fields_of_the_marketplace():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert {"name", "description", "author", "branding", "inputs", "outputs", "runs"} == action.keys()
    assert len(action["description"]) <= LONGEST_DESCRIPTION
    assert action["branding"]["color"] in COLORS
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", action["branding"]["icon"])
    assert not (ROOT / "action.yaml").exists()
    assert "\n## GitHub action\n" in (ROOT / "README.md").read_text()
    script = action["runs"]["steps"][1]
    used = re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", str(action["runs"]))
    assert {*used} == action["inputs"].keys()
    for name, row in action["inputs"].items():
        assert row.keys() == {"description", "required", "default"}, name
        assert row["description"].endswith(".")
    for name, row in action["outputs"].items():
        assert row["description"].endswith(".")
        assert row["value"] == f"${{{{ steps.{script['id']}.outputs.{name} }}}}"
        assert f"{name}=%s" in script["run"]
    # No value of a workflow is put into a script's text.
    assert not any("${{" in step.get("run", "") for step in action["runs"]["steps"])


@pytest.mark.parametrize(("code", "result"), [(0, "passed"), (100, "findings"), (1, "failed"), (2, "failed")])
def test_the_action_tells_its_result(code: int, result: str, tmp_path: Path):
    script = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"][1]["run"]
    command = tmp_path / "magicbyte" / "bin" / "magicbyte"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\nexit {code}\n")
    command.chmod(0o755)
    environment = os.environ | {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output")}
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], env=environment, check=False)
    assert done.returncode == code
    assert (tmp_path / "output").read_text() == f"result={result}\nexit-code={code}\n"


def test_the_actions_script_runs_the_check_of_the_base_branch(project: Any, tmp_path: Path):
    script = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"][1]["run"]
    command = tmp_path / "magicbyte" / "bin" / "magicbyte"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m magicbyte.cli.main "$@"\n')
    command.chmod(0o755)
    project.write("a.avsc", '"string"')
    commit = project.commit()
    project.git("update-ref", "refs/remotes/origin/release", commit)
    project.write("a.avsc", '"int"')
    project.commit()
    environment = os.environ | {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_BASE_REF": "release",
        **dict.fromkeys(("AGAINST", "CONFIG", "LINT"), ""),
        "SARIF": "out.sarif",
    }
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=project.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 100, done.stderr
    assert "::error file=a.avsc,line=1,col=1,title=TYPE_MISMATCH (a)::" in done.stdout
    assert (project.folder / "out.sarif").exists()


def test_the_hooks_are_commands_that_run(project: Any):
    project.write("a.avsc", '{"type": "record", "name": "a.B", "doc": "x", "fields": []}')
    project.commit()
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()):
        name, *arguments = hook["entry"].split()
        assert name == "magicbyte"
        assert project.run(*arguments)[0] == 0
