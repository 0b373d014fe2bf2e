"""A restore that is killed with -9 is run again, and ends as if it had not been; `tests/chaos` kills at random."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.operations.restore.conftest import Command, state_at
from tests.operations.restore.made_registry import made_state

_PROGRAM = Path(__file__).with_name("dying.py")
_ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "deaths"),
    [
        # Lines 1 and 2 come before anything is written.
        ("memory", [(3, False), (5, False)]),
        ("sqlite", [(3, False), (2, True)]),
        ("kafka", [(3, False), (2, True)]),
    ],
)
def test_a_killed_restore_is_completed(
    kind: str,
    deaths: list[tuple[int, bool]],
    magicbyte: Command,
    logical: Path,
    make_target: Callable[[str], str],
) -> None:
    target = make_target(kind)
    for line, is_open in deaths:
        arguments = [str(logical), target, str(line), *(["--open"] if is_open else [])]
        died = subprocess.run(
            [sys.executable, "-P", str(_PROGRAM), *arguments], cwd=_ROOT, env=_environment(), check=False
        )
        assert died.returncode == -9
    assert state_at(target) != made_state(), "it died before the end"
    outcome = magicbyte("restore", logical, "--to", target)
    assert outcome.code == 0, outcome.err
    assert ", 0 were there" not in outcome.out
    assert state_at(target) == made_state()


def _environment() -> dict[str, str]:
    import os  # noqa: PLC0415  only here

    return {**os.environ, "PYTHONPATH": str(_ROOT)}
