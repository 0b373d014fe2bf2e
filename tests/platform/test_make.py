"""Which interpreter the Makefile makes the environment with."""

from __future__ import annotations

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
def test_make_finds_whichever_interpreter_is_there(
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
