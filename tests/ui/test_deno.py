"""The page's pure modules, tested by Deno: it needs no browser, no Node and no network."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from deno import find_deno_bin

_UI = Path(__file__).parent


def test_the_modules_of_the_page() -> None:
    command = [find_deno_bin(), "test", "--no-remote", "--no-check", "--allow-read", "--config", "deno.json", "deno"]
    environment = {**os.environ, "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    ran = subprocess.run(command, cwd=_UI, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 failed" in ran.stdout
