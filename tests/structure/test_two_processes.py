"""The two processes of `make test`: which tests stay together."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
_TESTS = """
import os
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range(6))
def test_it(number):
    Path(__file__).with_suffix(f".{number}").write_text(str(os.getpid()))
"""


def test_one_process_runs_all_tests_of_a_file_and_all_of_spark(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    together = [("kit/test_a.py",), ("http/test_b.py",), ("spark/test_c.py", "spark/plan/test_d.py")]
    for name in (name for names in together for name in names):
        file = tmp_path / "tests" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_TESTS)
    shutil.copy(CONFTEST, tmp_path / "tests" / "conftest.py")
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "xdist", "-n", "2", "-p", "no:cacheprovider", "tests"]
    without_plugins = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=without_plugins, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

    def processes(names: tuple[str, ...]) -> set[str]:
        return {
            (tmp_path / "tests" / name).with_suffix(f".{number}").read_text() for name in names for number in range(6)
        }

    assert [len(processes(names)) for names in together] == [1, 1, 1]
