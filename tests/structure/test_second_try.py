"""The second try of CI: a test that fails once is named, and one that fails again fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

SECOND_TRY = Path(__file__).parents[1] / "second_try.py"

#: pytest starts in half the time.
_WITHOUT_PLUGINS = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

_PASSES_AT_LAST = """
from pathlib import Path
def test_flaky():
    tries = Path("tries")
    tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
    assert tries.read_text() == "xx"
"""
_FAILS = "def test_broken(): assert False\n"
_MANY_FAIL = "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_broken(n): assert False\n"


@pytest.mark.parametrize(
    ("tests", "code", "said"),
    [
        (_PASSES_AT_LAST, 0, "FAILED ONCE AND PASSED ONCE, a defect to mend: test_it.py::test_flaky"),
        (_FAILS, 1, "failed again: test_it.py::test_broken"),
        (_MANY_FAIL, 1, "4 tests failed; they are not run again"),
        ("def test_fine(): pass\n", 1, "0 tests failed; they are not run again"),
    ],
    ids=["once", "twice", "many", "none"],
)
def test_a_second_try(tmp_path: Path, tests: str, code: int, said: str) -> None:
    (tmp_path / "test_it.py").write_text(tests)
    run = partial(subprocess.run, cwd=tmp_path, env=_WITHOUT_PLUGINS, capture_output=True, text=True, check=False)
    run([sys.executable, "-P", "-m", "pytest", "-q"])
    second = run([sys.executable, "-P", SECOND_TRY])
    assert second.returncode == code
    assert said in second.stderr
