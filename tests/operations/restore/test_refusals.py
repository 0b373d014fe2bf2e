"""Restores that are refused, with literal texts: nothing is written, and the target is as it was."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_registry
from registry.log.port import BEGINNING, Record
from registry.log.sql import SqlLog
from tests.operations.restore.conftest import Command, state_at
from tests.operations.restore.made_registry import export_of, schema
from tests.topics import create_topics

_REFERS = [{"name": "Order", "subject": "lost-value", "version": 7}]
_ITSELF = [{"name": "A", "subject": "a", "version": 1}]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (
            [schema("a", 1, 1, '"int"'), schema("b", 1, 1, '"long"')],
            "the backup has 1 fault; nothing is written\n"
            "  id 1 of context . means two schemas: version 1 of a and version 1 of b\n"
            "--accept id-two-contents restores it as it is.\n",
        ),
        (
            [schema("a", 1, 1, '"int"', references=_REFERS)],
            "the backup has 1 fault; nothing is written\n"
            "  version 1 of a refers to version 7 of lost-value, which is not there\n"
            "--accept dangling-references restores it as it is.\n",
        ),
        (
            [schema("a", 1, 1, '"int"', references=_ITSELF)],
            "the backup has 1 fault; nothing is written\n"
            "  version 1 of a refers to itself\n"
            "--accept reference-cycles restores it as it is.\n",
        ),
        (
            [
                {"kind": "context", "context": "eu", "listed": True, "maxId": 1},
                {"kind": "context", "context": ".", "listed": True, "maxId": 1 << 31},
                schema("a", 0, 1, '"int"'),
                schema("__GLOBAL", 1, 1, '"int"'),
                {"kind": "mode", "subject": "a\n", "mode": "READONLY"},
            ],
            "the backup has 5 faults; nothing is written\n"
            "  the mark of context . is 2147483648, and not from 0 to 2147483647\n"
            "  'eu' is not the name of a context\n"
            "  version 0 of a is not from 1 to 2147483647\n"
            "  '__GLOBAL' is not a subject\n"
            "  'a\\n' has a config or a mode, and is neither a subject nor a context\n"
            "The backup cannot be restored.\n",
        ),
        ([schema("a", 1, 0, '"int"')], "id 0 is not from 1 to 2147483647"),
        ([schema("a", 1, 1, '"int"', guid="00000000-0000-0000-0000-000000000000")], "is not what its guid"),
        ([schema("a", 1, 1, '"int"'), schema("a", 1, 2, '"long"')], "twice"),
        ([{"kind": "future"}], "unknown kind"),
    ],
)
def test_a_faulty_backup_is_refused(lines: list[dict[str, Any]], text: str, magicbyte: Command, tmp_path: Path) -> None:
    file, target = tmp_path / "faulty.ndjson", tmp_path / "target.db"
    file.write_bytes(export_of(lines))
    outcome = magicbyte("restore", file, "--to", f"sqlite:///{target}")
    assert outcome.code == 1
    assert text in outcome.err
    assert not target.exists()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda body: body[: len(body) // 2], "made.ndjson cannot be used: line 12 is not JSON"),
        (
            lambda body: body.rpartition(b'{"kind":"end"')[0],
            "the closing line is missing: the file was cut after line 23",
        ),
        (lambda body: body.replace(b"Order", b"order", 1), "the file was changed"),
        (
            lambda body: body.replace(b'"lines":23', b'"lines":22'),
            "the closing line counts 22 lines, but 23 came before it",
        ),
        (lambda body: body + body, "comes after the closing line"),
        (lambda _: b"", "is of no known form"),
        (lambda _: b"PK\x03\x04", "is of no known form"),
    ],
)
def test_a_cut_or_changed_file_is_refused(
    change: Callable[[bytes], bytes], text: str, magicbyte: Command, logical: Path, shared_registry: str
) -> None:
    logical.write_bytes(change(logical.read_bytes()))
    before = state_at(shared_registry)
    outcome = magicbyte("restore", logical, "--to", shared_registry)
    assert outcome.code == 1
    assert text in outcome.err
    assert state_at(shared_registry) == before


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--to", "http://127.0.0.1:1", "--to-property", "max.retries=0"], 3, "http://127.0.0.1:1"),
        (["--to", "kafka:"], 1, "kafka: names no broker"),
        (["--to", "sqlite:////nowhere/a.db"], 1, "the folder /nowhere of the database does not exist"),
        (
            ["--to", "elsewhere"],
            1,
            "elsewhere is no target; targets begin with http:, https:, kafka:, sqlite:, postgres",
        ),
        (["--to", "postgres://u:s3cret@h/db"], 1, "postgres://[hidden]@h/db is no target"),
        (["--to", "postgres://h/db"], 1, "postgresql:; write postgresql: for postgres:"),
        (["--to", "sqlite:///x.db", "--only", "id=99"], 1, "--only id=99 selects nothing"),
        (["--to", "sqlite:///x.db", "--only", "id=x"], 1, "--only id=x: 'x' is not an id"),
        (["--to", "sqlite:///x.db", "--only", "name=x"], 1, "--only name=x: write id=20, id=:.context:20, subject="),
        (
            ["--to", "sqlite:///x.db", "--map-context", ".=b"],
            1,
            "write two contexts, such as .=.recovered; 'b' is none",
        ),
        (["--to", "sqlite:///x.db", "--map-context", ".no=.b"], 1, "there is no context .no in what is restored"),
        (
            ["--to", "sqlite:///x.db", "--map-context", ".=.a", "--map-context", ".=.b"],
            1,
            "--map-context names . twice",
        ),
        (
            ["--to", "sqlite:///x.db", "--map-context", ".=.eu"],
            1,
            "two versions would be version 1 of :.eu:orders-value",
        ),
        (["--to", "sqlite:///x.db", "--accept", "all"], 1, "--accept all: there is dangling-references, "),
    ],
)
def test_a_wrong_call_is_refused(arguments: list[str], code: int, text: str, magicbyte: Command, logical: Path) -> None:
    outcome = magicbyte("restore", logical, *arguments)
    assert (outcome.code, text in outcome.err) == (code, True), outcome.err
    assert not Path("x.db").exists()


def test_a_database_that_is_not_empty_is_refused(magicbyte: Command, logical: Path, tmp_path: Path) -> None:
    file = tmp_path / "full.db"
    log = SqlLog(f"sqlite:///{file}")
    log.append([Record(b'{"keytype":"NOOP","magic":0}', b"{}", 1)], BEGINNING)
    log.close()
    outcome = magicbyte("restore", logical, "--to", f"sqlite:///{file}")
    assert outcome.code == 1
    assert outcome.err.endswith(
        f'  sqlite:///{file} is not empty: its record at offset 0, key {{"keytype":"NOOP","magic":0}}, is not of this '
        "restore. Restore into an empty database, or into the running registry by its URL\n"
        "Correct this, and run the restore again.\n"
    )
    with sqlite3.connect(file) as connection:
        assert connection.execute("select count(*) from log").fetchone() == (1,)


@pytest.mark.parametrize(
    ("partitions", "configs", "text"),
    [
        (2, {"cleanup.policy": "compact"}, "has 2 partitions; schemas need the order of exactly one"),
        (1, {"cleanup.policy": "delete"}, "has cleanup.policy=delete and would lose schemas"),
        (1, {"cleanup.policy": "compact,delete"}, "has cleanup.policy=compact,delete and would lose schemas"),
        (
            1,
            {"cleanup.policy": "compact", "message.timestamp.type": "LogAppendTime"},
            "has message.timestamp.type=LogAppendTime and loses times; set it to CreateTime",
        ),
        (1, {"cleanup.policy": "compact", "max.message.bytes": "1000"}, "takes 1,000 bytes, and a record needs"),
    ],
)
def test_an_unfit_topic_is_refused(
    partitions: int, configs: dict[str, str], text: str, magicbyte: Command, logical: Path, kafka: str
) -> None:
    topic = _topic(kafka, partitions, configs)
    outcome = magicbyte("restore", logical, "--to", f"kafka:{kafka}/{topic}")
    assert (outcome.code, text in outcome.err) == (1, True), outcome.err


def test_a_topic_that_is_not_empty_is_refused(magicbyte: Command, logical: Path, kafka: str) -> None:
    topic = _topic(kafka, 1, {"cleanup.policy": "compact"})
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(topic, key=b"k", value=b"v")
    producer.flush()
    outcome = magicbyte("restore", logical, "--to", f"kafka:{kafka}/{topic}")
    assert outcome.code == 1
    assert f"kafka:{kafka}/{topic} is not empty: its record at offset 0, key k, is not of this restore." in outcome.err


def test_the_topic_of_a_running_registry_is_refused(magicbyte: Command, logical: Path, kafka: str) -> None:
    topic = f"running-{uuid.uuid4()}"
    properties = {"kafkastore.topic": topic, "schema.registry.group.id": topic}
    with running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as server:
        outcome = magicbyte("restore", logical, "--to", f"kafka:{kafka}/{topic}")
        assert outcome.code == 1
        text = f"a registry runs on kafka:{kafka}/{topic}: {server.url}. Stop it, or restore by its URL\n"
        assert text in outcome.err


def test_restore_reports_refusals_of_the_registry_before_writing(magicbyte: Command, tmp_path: Path) -> None:
    """A dry run finds it; here modes must not change, and the file brings one."""
    file = tmp_path / "modes.ndjson"
    file.write_bytes(export_of([schema("a", 1, 1, '"int"'), {"kind": "mode", "subject": "a", "mode": "READONLY"}]))
    with running_registry(properties={"mode.mutability": "false"}) as server:
        outcome = magicbyte("restore", file, "--to", server.url)
        assert outcome.code == 1
        assert "; nothing is written\n  the mode of a: " in outcome.err
        assert state_at(server.url).versions == {}


def _topic(kafka: str, partitions: int, configs: dict[str, str]) -> str:
    topic = f"target-{uuid.uuid4()}"
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, NewTopic(topic, partitions, 1, config=configs))
    return topic


def test_restore_writes_the_rest_of_a_cut_file_on_request(magicbyte: Command, logical: Path, tmp_path: Path) -> None:
    whole = logical.read_bytes()
    cut = tmp_path / "cut.ndjson"
    cut.write_bytes(whole[: whole.index(b'"proto-value"')])
    target = f"sqlite:///{tmp_path}/cut.db"
    outcome = magicbyte("restore", cut, "--to", target, "--cut-file")
    assert outcome.code == 100, outcome.err
    assert "note: the file was cut: only what is left of it counts\n" in outcome.out
    assert "7 versions expected, 7 there, 7 the same, 0 differences\n" in outcome.out
    assert magicbyte("verify", cut, "--to", target, "--cut-file").code == 100
    # A file that has its end was not cut: if it does not fit, it was changed.
    assert magicbyte("verify", logical, "--to", f"sqlite:///{tmp_path}/cut.db", "--cut-file").code == 100
    cut.write_bytes(whole.replace(b"Order", b"order", 1))
    outcome = magicbyte("restore", cut, "--to", f"sqlite:///{tmp_path}/changed.db", "--cut-file")
    assert outcome.code == 1
    assert "the file was changed" in outcome.err
    assert not (tmp_path / "changed.db").exists()
