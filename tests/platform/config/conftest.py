from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def magicbyte(tmp_path: Path) -> Run:
    """Runs a command in an empty folder, without variables of servers."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        beginnings = ("SCHEMA_REGISTRY_", "KAFKA_REST_", "MAGICBYTE_")
        usual = {name: value for name, value in os.environ.items() if not name.startswith(beginnings)}
        command = [sys.executable, "-P", "-m", "magicbyte.cli.main", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=usual | variables, capture_output=True, text=True, check=False, timeout=60
        )

    return run
