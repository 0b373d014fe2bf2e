"""Free ports: each is given once, until its process ends."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import chain

import pytest

from magicbyte.platform.broker import free_port, port_is_free


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names that end with their process")
def test_no_two_processes_get_a_port_while_its_server_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from magicbyte.platform.broker import free_port; print(free_port(), flush=True); input()"
    command = [sys.executable, "-P", "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        given = int(other.stdout.readline())
        # Nothing listens there yet.
        assert port_is_free(given)
        candidates = chain([given], iter(range(20_000, 32_768)))
        monkeypatch.setattr(random, "choice", lambda _: next(candidates))
        assert free_port() != given
        other.communicate("\n")
    candidates = iter([given])
    assert free_port() == given
