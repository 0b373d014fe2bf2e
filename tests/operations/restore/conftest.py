"""Fixtures of restores: the command, files with the made registry, and empty targets of each kind."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from magicbyte.cli.main import main
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.state import State
from magicbyte.testing import running_registry
from registry.log.port import BEGINNING
from registry.log.sql import SqlLog
from tests.operations.restore.made_registry import LINES, export_of, log_of_old_writers, made_state


@dataclass(frozen=True)
class Outcome:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


Command = Callable[..., Outcome]


@pytest.fixture
def magicbyte(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command of `magicbyte`."""

    def run(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        return Outcome(code, *capfd.readouterr())

    return run


@pytest.fixture
def logical(tmp_path: Path) -> Path:
    """The made registry as an export."""
    file = tmp_path / "made.ndjson"
    file.write_bytes(export_of(LINES))
    return file


@pytest.fixture
def old_log(tmp_path: Path) -> str:
    """A database whose log has records of other writers, tombstones, and records that no registry reads."""
    url = f"sqlite:///{tmp_path}/old.db"
    log = SqlLog(url)
    log.append(log_of_old_writers(), BEGINNING)
    log.close()
    return url


@pytest.fixture
def make_target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Makes an empty target: `memory` is a running registry, the others are logs."""
    with ExitStack() as stack:

        def make(kind: str) -> str:
            if kind == "memory":
                return stack.enter_context(running_registry()).url
            if kind == "sqlite":
                return f"sqlite:///{tmp_path}/{uuid.uuid4()}.db"
            if kind == "postgresql":
                return str(request.getfixturevalue("postgresql"))
            return f"kafka:{request.getfixturevalue('kafka')}/schemas-{uuid.uuid4()}"

        yield make


@pytest.fixture(scope="session")
def shared_registry() -> Iterator[str]:
    """A registry that holds the made registry, for tests that must not change it."""
    with running_registry() as server:
        httpx.post(f"{server.url}/import", content=export_of(list(made_state().lines()))).raise_for_status()
        yield server.url


def state_at(name: str) -> State:
    """The state of a source."""
    with open_source(name, Properties()) as source:
        return source.read().state
