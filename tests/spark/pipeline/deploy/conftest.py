"""The options of commands, and pipeline files."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from magicbyte.cli.pipeline.main import COMMANDS
from magicbyte.cli.subcommands import parser_of

Options = Callable[..., argparse.Namespace]
WriteFile = Callable[..., Path]


@pytest.fixture
def options() -> Options:
    """The options of a command line."""

    def parsed(command: str, *words: str) -> argparse.Namespace:
        return parser_of("magicbyte pipeline", None, COMMANDS).parse_args([command, *words])

    return parsed


@pytest.fixture
def write_file(tmp_path: Path) -> WriteFile:
    """Writes a pipeline file."""

    def write(rest: str = "trigger: {every: 30s}") -> Path:
        file = tmp_path / "flights.yaml"
        file.write_text(
            f"""
version: 1
name: flights
kafka: {{bootstrap.servers: "${{env:BROKERS:-localhost:9092}}"}}
registry: {{url: "http://localhost:8081"}}
checkpoint: /srv/lake/checkpoint
source: {{topics: [flights]}}
sink: {{files: {{path: /srv/lake/flights}}}}
{rest}
"""
        )
        return file

    return write
