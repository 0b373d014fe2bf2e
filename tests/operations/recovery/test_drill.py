"""Drills: a copy is made, compared and deleted, and what differs is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from magicbyte.cli.dr.main import main
from magicbyte.cli.main import main as magicbyte
from magicbyte.kit.failure import Failure
from magicbyte.operations.recovery import drill
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


def test_a_drill_empties_the_scratch_registry_after_an_error(
    registries: tuple[Api, Api], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, scratch = registries
    source.register("a", '"int"')
    backup = tmp_path / "backup.ndjson"
    assert magicbyte(["backup", source.url, "-o", str(backup)]) == 0
    source.register("b", '"long"')
    monkeypatch.setattr(drill, "compare", _interrupted)
    for arguments in (["--from", source.url], ["--file", str(backup)]):
        with pytest.raises(KeyboardInterrupt):
            main(["drill", *arguments, "--to", scratch.url])
        state = scratch.state()
        assert (state.versions, state.configs, state.modes) == ({}, {}, {})
    monkeypatch.undo()
    # The older backup after a drill with higher ids.
    assert main(["drill", "--from", source.url, "--to", scratch.url]) == 0
    assert main(["drill", "--file", str(backup), "--to", scratch.url]) == 0


def _interrupted(*_arguments: object, **_options: object) -> None:
    raise KeyboardInterrupt


def test_a_drill_refuses_a_registry_with_schemas(registries: tuple[Api, Api]) -> None:
    source, scratch = registries
    scratch("PUT", "/config", {"compatibility": "FULL"})
    scratch("PUT", "/mode", {"mode": "READONLY"})
    scratch.lines(json.dumps({"kind": "context", "context": ".x", "listed": True, "maxId": 0}))
    scratch.lines(json.dumps({"kind": "mirror", "context": ".", "epoch": 1, "value": {}}))
    with pytest.raises(Failure, match="has 1 config, 1 mode, 1 context, 1 mirror's mark; a drill needs an empty"):
        main(["drill", "--from", source.url, "--to", scratch.url])


def test_a_drill_needs_something_to_copy() -> None:
    with pytest.raises(Exception, match="needs --from A, --file BACKUP, or both"):
        main(["drill"])
