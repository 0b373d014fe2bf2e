"""The commands for topics and groups, run in this process."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from magicbyte.cli.main import main

_numbers = itertools.count()


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `magicbyte` with these arguments."""

    def one(*arguments: str) -> Result:
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = int(str(ended.code))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return one


@pytest.fixture
def topic() -> str:
    return f"admin-{os.getpid()}-{next(_numbers)}"
