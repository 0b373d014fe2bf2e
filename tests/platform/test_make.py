"""The Makefile: which interpreter makes the environment, and which programs get the options."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def interpreter(folder: Path, name: str, version: tuple[int, int]) -> None:
    """A `python` of another version, as far as the Makefile asks."""
    script = folder / name
    code = f"import sys; sys.version_info = {version}; exec(sys.argv[1])"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$2"\n')
    script.chmod(0o755)


@pytest.mark.parametrize(
    ("interpreters", "taken"),
    [
        ({"python3": (3, 11)}, "python3"),
        ({"python3": (3, 14)}, "python3"),
        ({"python3.14": (3, 14)}, "python3.14"),
        ({"python3": (3, 10), "python3.12": (3, 12)}, "python3.12"),
        ({"python3": (3, 15), "python3.13": (3, 13)}, "python3.13"),
        ({"python3": (3, 15)}, "python3"),
        ({"python3.15": (3, 15)}, "python3.15"),
        ({"python3": (3, 10)}, None),
        ({}, None),
    ],
)
def test_make_finds_any_supported_interpreter(
    tmp_path: Path, interpreters: dict[str, tuple[int, int]], taken: str | None
):
    for name, version in interpreters.items():
        interpreter(tmp_path, name, version)
    for tool in ("sh", "make"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or "")
    command = [tmp_path / "make", "--dry-run", "--always-make", ".venv/installed"]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line.endswith(" -m venv .venv")]
    assert [line.split()[0] for line in lines] == ([taken] if taken else []), done.stdout
    assert f'test -n "{taken or ""}"' in done.stdout


@pytest.mark.parametrize(
    ("goal", "variables", "programs"),
    [
        ("chaos", ["AREA=pipeline_r", "ARGS=--short"], ["tests/chaos/pipeline_restored.py"]),
        ("chaos", ["AREA=rest_s"], ["tests/chaos/rest_stream_killed.py"]),
        ("fuzz", ["AREA=json_schema_w", "ARGS=--schemas 9"], ["tests/fuzz/fuzz_json_schema_work.py"]),
        ("chaos", ["ARGS=--rounds 50"], "ARGS need AREA: the programs have options of their own"),
        ("fuzz", ["ARGS=--seconds 9"], "ARGS need AREA: the programs have options of their own"),
        ("chaos", ["AREA=nothing"], "no such area: AREA=nothing"),
    ],
)
def test_options_go_only_to_the_programs_that_area_names(
    tmp_path: Path, goal: str, variables: list[str], programs: list[str] | str
) -> None:
    # The programs themselves do not run: `echo` stands for the interpreter.
    command = ["make", "--silent", "--assume-old=.venv/jars-fetched", f"BIN={tmp_path}", goal, *variables]
    (tmp_path / "python").symlink_to(shutil.which("echo") or "")
    # A make that runs the suite passes its own variables on.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "AREA", "ARGS")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if isinstance(programs, str):
        assert (done.returncode, done.stderr.splitlines()[0], done.stdout) == (2, programs, "")
    else:
        options = next((value for value in variables if value.startswith("ARGS=")), "ARGS=").removeprefix("ARGS=")
        ran = [line.strip() for line in done.stdout.splitlines() if not line.startswith("==")]
        assert ran == [f"-P {program} {options}".strip() for program in programs]


@pytest.mark.parametrize(
    "program",
    [*sorted((ROOT / "tests/chaos").glob("*.py")), *sorted((ROOT / "tests/fuzz").glob("fuzz_*.py"))],
    ids=lambda path: path.name,
)
def test_each_program_of_chaos_and_fuzz_runs_without_options(program: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(program.read_text())) if isinstance(node, ast.Call)]
    added = [call for call in calls if getattr(call.func, "attr", "") == "add_argument"]
    assert added
    for call in added:
        assert isinstance(call.args[0], ast.Constant)
        assert str(call.args[0].value).startswith("--")
        assert "required" not in {keyword.arg for keyword in call.keywords}
