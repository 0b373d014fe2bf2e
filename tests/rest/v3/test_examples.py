"""The examples of the page on the proxy, run by curl."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[3] / "docs/rest-proxy.md").read_text(encoding="utf-8")
#: The blocks of commands: those for any broker, and those for a broker with an authorizer.
BLOCKS = re.findall(r"```sh\n(curl.*?)```", PAGE, re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize("block", range(2))
def test_the_examples_of_the_page(v3: Any, block: int) -> None:
    commands = BLOCKS[block].replace("http://localhost:8082", str(v3.client.base_url).rstrip("/")).splitlines()
    assert len(commands) == (26, 3)[block]
    statuses = []
    for command in commands:
        shown = f"{command} --silent --output /dev/null --write-out '%{{http_code}} '"
        run = subprocess.run(
            ["bash", "-c", shown], env={"C": v3.url, "PATH": "/usr/bin:/bin"}, capture_output=True, check=True
        )
        statuses.append(int(run.stdout))
    # The run's broker has no authorizer.
    expected = (
        [
            *(200, 200, 201, 200, 200, 207, 200, 200, 200, 200, 200, 200, 200, 204, 204, 200, 200, 200, 200),
            *(200, 200, 200, 204, 200, 200, 204),
        ],
        [400, 400, 400],
    )
    assert statuses == list(expected[block])
