"""A bounded run of the fuzzer; tests/fuzz/fuzz_cel.py runs for as long as wanted."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("fuzz_cel", Path(__file__).parents[3] / "fuzz" / "fuzz_cel.py")
assert _SPEC is not None
assert _SPEC.loader is not None
fuzz_cel = importlib.util.module_from_spec(_SPEC)
sys.modules["fuzz_cel"] = fuzz_cel
_SPEC.loader.exec_module(fuzz_cel)


def test_expressions_about_random_schemas() -> None:
    for seed in range(40):
        fuzz_cel.check_round(seed)


@pytest.mark.slow
def test_expressions_about_200_random_schemas() -> None:
    for seed in range(1_000, 1_200):
        fuzz_cel.check_round(seed)
