"""Entries that contradict the target: all are listed and nothing is written, or they are left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.testing import running_registry
from tests.operations.restore.conftest import Command, state_at
from tests.operations.restore.made_registry import export_of, record, schema

_TARGET = [
    {"kind": "context", "context": ".", "listed": True, "maxId": 60},
    schema("live", 1, 1, record("Live", "int")),
    schema("deleted", 1, 2, record("Deleted", "int"), deleted=True),
    schema("taken", 1, 3, record("Taken", "int")),
    {"kind": "config", "subject": "live", "config": {"compatibilityLevel": "FULL"}},
    {"kind": "mode", "subject": "taken", "mode": "READWRITE"},
]


@pytest.fixture
def target() -> Iterator[str]:
    with running_registry() as server:
        httpx.post(f"{server.url}/import", content=export_of(_TARGET)).raise_for_status()
        yield server.url


def test_all_conflicts_are_listed_and_nothing_is_written(magicbyte: Command, tmp_path: Path, target: str) -> None:
    with httpx.Client(base_url=target) as client:
        texts = {one["subject"]: one["schema"] for one in client.get("/schemas").json()}
    lines: list[dict[str, Any]] = [
        schema("other", 1, 3, record("Other", "int")),
        schema("taken", 1, 50, record("Other", "long")),
        schema("live", 1, 51, texts["live"]),
        schema(
            "refers", 1, 52, record("Refers", "Other"), references=[{"name": "Other", "subject": "other", "version": 1}]
        ),
        schema("refers", 2, 53, record("R", "Refers"), references=[{"name": "R", "subject": "refers", "version": 1}]),
        schema("fine", 1, 54, record("Fine", "int")),
        {"kind": "config", "subject": "live", "config": {"compatibilityLevel": "NONE"}},
        {"kind": "config", "subject": "fine", "config": {"compatibilityLevel": "NONE"}},
        {"kind": "mode", "subject": "taken", "mode": "READONLY"},
    ]
    file = tmp_path / "conflicts.ndjson"
    file.write_bytes(export_of(lines))
    before = state_at(target)
    outcome = magicbyte("restore", file, "--to", target)
    assert outcome.code == 1
    conflicts = [
        "version 1 of live has id 51 in the backup and id 1 in the target",
        "id 3 of context ., which version 1 of other has in the backup, is another schema in the target: "
        "version 1 of taken",
        "version 1 of taken is another schema in the target, with id 3",
        "the config of live is {'compatibilityLevel': 'NONE'} in the backup and {'compatibilityLevel': 'FULL'} in the "
        "target",
        "the mode of taken is READONLY in the backup and READWRITE in the target",
    ]
    listed = "".join(f"  {sentence}\n" for sentence in conflicts)
    assert (
        f"{target} contradicts {file}: 5 conflicts; nothing is written\n{listed}--on-conflict skip leaves"
        in outcome.err
    )
    assert state_at(target) == before

    skipped = magicbyte("restore", file, "--to", target, "--on-conflict", "skip")
    assert skipped.code == 100
    left_out = [
        *conflicts,
        "version 1 of refers refers to version 1 of other, which is left out",
        "version 2 of refers refers to version 1 of refers, which is left out",
    ]
    assert all(f"left out: {sentence}\n" in skipped.out for sentence in left_out)
    assert "4 versions expected, 4 there, 4 the same, 0 differences" in skipped.out
    after = state_at(target)
    assert {place: after.versions[place] for place in before.versions} == before.versions
    assert after.versions.keys() - before.versions.keys() == {("fine", 1)}
    assert after.modes == before.modes
    assert after.contexts["."].highest_id == 60


def test_a_deletion_is_undone_and_none_is_made(magicbyte: Command, tmp_path: Path, target: str) -> None:
    state = state_at(target)
    lines = [line for line in state.lines() if line["kind"] == "schema"]
    for line in lines:
        line["deleted"] = not line["deleted"]
    file = tmp_path / "deletions.ndjson"
    file.write_bytes(export_of(lines))
    outcome = magicbyte("restore", file, "--to", target, "--on-conflict", "skip")
    assert outcome.code == 100
    assert "left out: version 1 of live is deleted in the backup and live in the target\n" in outcome.out
    assert "left out: version 1 of taken is deleted in the backup and live in the target\n" in outcome.out
    after = state_at(target)
    assert [after.versions[name, 1].deleted for name in ("live", "deleted", "taken")] == [False, False, False]
