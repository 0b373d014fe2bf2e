"""Decisions carry the versions that their records say, so that nobody decodes what was just encoded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from compat.contracts.model import Metadata, RuleSet
from compat.schema import Reference
from registry.cluster.commit.committer import Committer
from registry.decide import Decision, Sent, Terms, decide_delete_version, decide_load, decide_register
from registry.decide.delete import decide_delete_subject, decide_undelete
from registry.feed.changes import changes_since
from registry.log.memory import MemoryLog
from registry.log.port import LogEntry
from registry.state import records
from registry.state.identity import digest_of
from registry.state.model import Content
from registry.state.view import View

TERMS = Terms(rules_check="off")
PROTO = 'syntax = "proto3";\nmessage M {\n  string name = 1;\n}\n'
RULES = {"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]}


def register(subject: str, *content: Any, **fields: Any) -> Callable[[View, int], Decision[Any]]:
    return partial(decide_register, sent=Sent(subject, Content(*content), **fields), terms=TERMS)


COMMANDS = [
    register("plain", "AVRO", '"int"'),
    register("plain", "AVRO", '"long"'),
    register(":.context:other", "AVRO", '"int"'),
    register("proto", "PROTOBUF", PROTO),
    register("json", "JSON", '{"type":"object"}'),
    register("e", "AVRO", '{"type":"enum","name":"E","symbols":["A"]}'),
    register(
        "refers", "AVRO", '{"type":"record","name":"R","fields":[{"name":"e","type":"E"}]}', (Reference("E", "e", 1),)
    ),
    register("meta", "AVRO", '"int"', (), Metadata.from_json({"properties": {"a": "b"}, "sensitive": []})),
    register("rules", "AVRO", '"int"', (), None, RuleSet.from_json(RULES)),
    register("emptyRules", "AVRO", '"int"', (), Metadata(), RuleSet()),
    partial(decide_delete_version, subject="plain", number=1, permanent=False),
    partial(decide_undelete, subject="plain", number=1),
    partial(decide_load, lines=[(1, {"subject": "i", "version": 7, "id": 70, "schema": '"int"'})], terms=TERMS),
]


def test_the_entries_of_a_decision_equal_its_decoded_records() -> None:
    carrying, decoding = View(), View()
    carried = 0
    for now, command in enumerate(COMMANDS):
        decision = command(carrying, now)
        assert decision.records, command
        for record in decision.records:
            key = records.decode_key(record.key)
            if key.keytype == records.SCHEMA and record.value is not None:
                value = records.decode_value(record.value)
                assert record.decoded == records.decode_version(key, value, record.timestamp)
                carried += 1
            carrying.apply_record(record)
            decoding.apply(LogEntry(decoding.offset + 1, record.key, record.value, record.timestamp))
    assert carried == len(COMMANDS)
    assert carrying.subjects() == decoding.subjects()
    for subject in decoding.subjects():
        assert list(carrying.versions(subject)) == list(decoding.versions(subject))
    assert changes_since(carrying, -1) == changes_since(decoding, -1)


def test_a_batch_is_applied_without_decoding_its_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_again(*_: object) -> None:
        raise AssertionError("decoded")

    committer = Committer(MemoryLog(), View())
    # All in one batch: each is decided on what the ones before it left.
    futures = [committer.submit(register("s", "AVRO", f'"{name}"')) for name in ("int", "long", "float", "double")]
    monkeypatch.setattr(records, "decode_version", not_again)
    committer.start()
    assert [future.result(60).number for future in futures] == [1, 2, 3, 4]
    committer.stop()


def test_adopting_an_overlay_of_new_versions_equals_applying_its_records() -> None:
    adopting, applying = View(), View()
    for view_of_both in (adopting, applying):
        view_of_both.index_digests()
        for record in register("e", "AVRO", '{"type":"enum","name":"E","symbols":["A"]}')(view_of_both, 1).records:
            view_of_both.apply_record(record)
    overlay = View(adopting)
    written = []
    for command in (COMMANDS[0], COMMANDS[1], COMMANDS[3], COMMANDS[6], COMMANDS[7]):
        decision = command(overlay, 7)
        written += decision.records
        for record in decision.records:
            overlay.apply_record(record)
    # A log may give other offsets than the overlay expects.
    for offset, record in enumerate(written, 3):
        applying.apply_record(record, offset)
    adopting.adopt(overlay, 3)
    assert adopting.offset == applying.offset == 7
    assert adopting.references_moved == applying.references_moved
    assert changes_since(adopting, -1) == changes_since(applying, -1)
    for name, table in vars(applying.tables).items():
        assert {key: vars(adopting.tables)[name].get(key) for key in table} == {key: table.get(key) for key in table}
    for subject in ("plain", "proto", "refers"):
        (version, *_) = adopting.versions(subject)
        assert adopting.with_digest(".", digest_of(version.content)) == (version,)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(COMMANDS[2], id="a context is new"),
        pytest.param(COMMANDS[10], id="a version is replaced"),
        pytest.param(partial(decide_delete_subject, subject="plain", permanent=False), id="a subject is deleted"),
    ],
)
def test_no_other_overlay_is_adopted(command: Callable[[View, int], Decision[Any]]) -> None:
    base = View()
    for record in COMMANDS[0](base, 1).records:
        base.apply_record(record)
    overlay = View(base)
    for record in (*COMMANDS[1](overlay, 2).records, *command(overlay, 2).records):
        overlay.apply_record(record)
    base.adopt(overlay, 1)
    assert base.offset == 0
    assert [version.number for version in base.versions("plain")] == [1]


def test_an_overlay_is_not_adopted_once_its_base_has_changed() -> None:
    base = View()
    overlay = View(base)
    for record in COMMANDS[0](overlay, 1).records:
        overlay.apply_record(record)
    for record in COMMANDS[5](base, 1).records:
        base.apply_record(record)
    base.adopt(overlay, 0)
    assert base.subjects() == ["e"]
