"""Drills: a copy is made, compared and deleted, and what differs is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from magicbyte.cli.dr.main import main
from tests.operations.mirror.conftest import Api, registries

__all__ = ["registries"]


def test_a_drill_copies_compares_and_deletes(
    registries: tuple[Api, Api], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, scratch = registries
    source.register("a", '"int"')
    record = '{"type":"record","name":"%s","fields":[%s]}'
    source.register("r", record % ("R", ""))
    reference = [{"name": "R", "subject": "r", "version": 1}]
    source.register("b", record % ("B", '{"name":"r","type":"R"}'), references=reference)
    source.register(":.x:a", '"int"')
    source("DELETE", "/subjects/a")
    source("PUT", "/mode/:.x:", {"mode": "READONLY"})
    assert main(["drill", "--from", source.url, "--to", scratch.url, "--output", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["versions"], report["differences"], set(report["seconds"])) == (4, [], {"copy", "compare"})
    state = scratch.state()
    assert (state.versions, state.configs, state.modes) == ({}, {}, {})
    assert len(source.state().versions) == 4
    with pytest.raises(Exception, match="has 4 versions"):
        main(["drill", "--from", scratch.url, "--to", source.url])


def test_a_drill_needs_something_to_copy() -> None:
    with pytest.raises(Exception, match="needs --from A, --file BACKUP, or both"):
        main(["drill"])
