"""A bounded run of the fuzzer; tests/fuzz/fuzz_avro.py runs for as long as wanted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZER = Path(__file__).parents[2] / "fuzz" / "fuzz_avro.py"


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_no_text_makes_the_parser_the_printer_or_the_checker_fail(seed: int):
    run = subprocess.run(
        [sys.executable, FUZZER, "--texts", "600", "--seconds", "60", "--seed", str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "'refused': " in run.stdout
    assert "'read': " in run.stdout
