"""Restores between all kinds of sources and targets: nothing differs, and no id is given twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import msgspec
import pytest

from magicbyte.operations.backup.writing import write_raw
from magicbyte.operations.restore.targets import database
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.sources.port import Headers, RawRecord, RawSource
from magicbyte.testing import running_registry
from tests.operations.restore.conftest import Command, state_at
from tests.operations.restore.made_registry import (
    LINES,
    bare,
    export_of,
    log_of_old_writers,
    made_state,
    schema,
    state_of,
)
from tests.operations.sources.samples import Records, quiet

TARGETS = ("memory", "sqlite", "postgresql", "kafka")


@pytest.mark.parametrize("kind", TARGETS)
def test_an_export_is_restored_and_restored_again(
    kind: str, magicbyte: Command, logical: Path, make_target: Callable[[str], str]
) -> None:
    target = make_target(kind)
    first = magicbyte("restore", logical, "--to", target, "--output", "json")
    assert first.code == 0, first.err
    report = json.loads(first.out)
    assert report["restored"] == {
        "contexts": 4,
        "subjects": 9,
        "versions": 12,
        "deleted": 2,
        "ids": 11,
        "configs": 3,
        "modes": 3,
    }
    assert report["verified"] == {"left": 12, "right": 12, "same": 12, "counts": {}, "differences": []}
    assert state_at(target) == made_state()
    again = magicbyte("restore", logical, "--to", target, "--output", "json")
    assert again.code == 0, again.err
    written = {name: count for name, count in json.loads(again.out)["written"].items() if name != "alreadyThere"}
    assert set(written.values()) == {0}
    verified = magicbyte("verify", logical, "--to", target)
    assert verified.code == 0
    assert verified.out.endswith("12 versions in the backup, 12 in the target, 12 the same, 0 differences\n")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_the_mark_of_new_contexts_is_restored(
    kind: str, magicbyte: Command, tmp_path: Path, make_target: Callable[[str], str]
) -> None:
    target, file = make_target(kind), tmp_path / "promoted.ndjson"
    lines = [{"kind": "context", "context": ".__GLOBAL", "listed": False, "maxId": 10_000}, schema("a", 1, 1, '"int"')]
    file.write_bytes(export_of(lines))
    outcome = magicbyte("restore", file, "--to", target)
    assert outcome.code == 0, outcome.err
    assert state_at(target).contexts[".__GLOBAL"].highest_id == 10_000


@pytest.mark.parametrize("kind", TARGETS)
def test_a_log_is_restored(kind: str, magicbyte: Command, old_log: str, make_target: Callable[[str], str]) -> None:
    target = make_target(kind)
    restored = magicbyte("restore", old_log, "--to", target)
    assert restored.code == 0, restored.err
    assert "14 versions expected, 14 there, 14 the same, 0 differences\n" in restored.out
    assert state_at(target).versions.keys() == state_of(log_of_old_writers()).versions.keys()


@pytest.mark.parametrize("kind", ["sqlite", "kafka"])
def test_a_log_is_restored_byte_for_byte(
    kind: str, magicbyte: Command, old_log: str, make_target: Callable[[str], str]
) -> None:
    target = make_target(kind)
    assert magicbyte("restore", old_log, "--to", target).code == 0
    with open_source(target, Properties()) as source:
        assert isinstance(source, RawSource)
        records = bare(list(source.records()))
    expected = [(one.key, one.value, one.timestamp) for one in log_of_old_writers()]
    posted = next(one.key for one in log_of_old_writers() if b"POSTED" in one.key)
    # Offsets of the old log mean nothing in the new one.
    whole = [*expected, (posted, None, 1_700_000_100_004)]
    last = {key: number for number, (key, _, _) in enumerate(whole)}
    # On a busy machine, the broker may have compacted the topic by now.
    assert records == [one for number, one in enumerate(whole) if last[one[0]] == number or one in records]
    assert kind == "kafka" or records == whole


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (lambda record: record, 0),
        # No state shows when a config was set, or how its value is written.
        (lambda record: msgspec.structs.replace(record, timestamp=record.timestamp + 1), 100),
        (lambda record: msgspec.structs.replace(record, value=record.value + b" "), 100),
    ],
)
def test_a_restored_log_is_compared_record_by_record(
    changed: Callable[[RawRecord], RawRecord],
    code: int,
    magicbyte: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A writer that changes what it writes."""
    key, value = b'{"keytype":"CONFIG","magic":0}', b'{"compatibilityLevel":"FULL"}'
    backup, write = tmp_path / "raw.ndjson", database._record
    write_raw(Records([RawRecord(0, 5, key, value)]), backup, progress=quiet)
    monkeypatch.setattr(database, "_record", lambda record: write(changed(record)))
    restored = magicbyte("restore", backup, "--to", f"sqlite:///{tmp_path}/log.db")
    assert restored.code == code
    assert restored.out.endswith(" 0 differences\n")
    assert ("RECORDS: the records are not those that were restored" in restored.out) == bool(code)
    # A restore that did not look at the target says nothing about it.
    unseen = magicbyte("restore", backup, "--to", f"sqlite:///{tmp_path}/other.db", "--verify", "none")
    assert unseen.code == 0


@pytest.mark.parametrize(("headers", "code"), [((), 0), ((("h", b"1"),), 100)])
def test_the_exit_code_shows_an_accepted_loss(headers: Headers, code: int, magicbyte: Command, tmp_path: Path) -> None:
    key, value = b'{"keytype":"CONFIG","magic":0}', b'{"compatibilityLevel":"FULL"}'
    backup = tmp_path / "raw.ndjson"
    write_raw(Records([RawRecord(0, 5, key, value, headers)]), backup, progress=quiet)
    call = ["restore", backup, "--to", f"sqlite:///{tmp_path}/log.db", "--accept", "headers"]
    dry_run = magicbyte(*call, "--dry-run")
    restored = magicbyte(*call)
    assert (dry_run.code, restored.code) == (code, code)
    assert ("not held by the target: a database has no headers: 1 record" in restored.out) == bool(headers)
    assert restored.out.endswith(" 0 differences\n")


@pytest.mark.parametrize("kind", TARGETS)
def test_a_restored_registry_never_reuses_ids_of_deleted_schemas(
    kind: str,
    magicbyte: Command,
    logical: Path,
    make_target: Callable[[str], str],
    request: pytest.FixtureRequest,
) -> None:
    target = make_target(kind)
    assert magicbyte("restore", logical, "--to", target).code == 0
    if kind == "memory":
        assert _registered(target) == (41, 8)
        return
    storage, properties, servers = target, {}, None
    if kind == "kafka":
        storage, servers = "kafka:", request.getfixturevalue("kafka")
        topic = target.rpartition("/")[2]
        properties = {"kafkastore.topic": topic, "schema.registry.group.id": topic}
    with running_registry(storage, bootstrap_servers=servers, properties=properties) as server:
        assert _registered(server.url) == (41, 8)


def _registered(url: str) -> tuple[int, int]:
    """The ids of a new schema in the default context and in `.gone`, whose schemas were all deleted."""
    body = {"schema": '{"type":"enum","name":"New","symbols":["A"]}'}
    answers = [
        httpx.post(f"{url}/subjects/{subject}/versions", json=body).json()
        for subject in ("new-value", ":.gone:new-value")
    ]
    return answers[0]["id"], answers[1]["id"]


def test_a_dry_run_writes_nothing(magicbyte: Command, logical: Path, make_target: Callable[[str], str]) -> None:
    database, topic, registry = make_target("sqlite"), make_target("kafka"), make_target("memory")
    for target in (database, topic, registry):
        outcome = magicbyte("restore", logical, "--to", target, "--dry-run")
        assert outcome.code == 0, outcome.err
        assert outcome.out.endswith(f"{target}: a dry run, nothing is written\n")
    assert not Path(database.removeprefix("sqlite:///")).exists()
    assert magicbyte("verify", logical, "--to", topic).err.endswith(f"has no topic {topic.rpartition('/')[2]}\n")
    assert state_at(registry).versions == {}


def test_verify_finds_differences_in_both_directions(magicbyte: Command, logical: Path, shared_registry: str) -> None:
    lacking = logical.with_name("lacking.ndjson")
    lines = [line for line in LINES if line.get("subject") != "ruled-value"]
    lacking.write_bytes(export_of([*lines, schema("more-value", 1, 40, '"int"')]))
    outcome = magicbyte("verify", lacking, "--to", shared_registry, "--output", "json")
    assert outcome.code == 100
    assert {(one["code"], one["subject"]) for one in json.loads(outcome.out)["verified"]["differences"]} == {
        ("SUBJECT", "ruled-value"),
        ("SUBJECT", "more-value"),
    }
