from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from magicbyte.kit.errors import ApiError
from registry import errors
from registry.cluster.commit.committer import Command, Committer
from registry.cluster.commit.outcome import Outcome
from registry.decide import (
    Decision,
    Sent,
    Terms,
    decide_delete_config,
    decide_delete_subject,
    decide_delete_version,
    decide_put_config,
    decide_put_mode,
    decide_register,
    decide_undelete,
)
from registry.log.memory import MemoryLog
from registry.log.port import BEGINNING, Log, LogError, Offset, OutcomeUnknown, Record, RecordTooLarge, WriteConflict
from registry.state.model import Content, Version
from registry.state.view import View

TERMS = Terms()


def record_of(name: str, fields: str) -> str:
    return f'{{"type":"record","name":"{name}","fields":[{fields}]}}'


def registration(subject: str, text: str) -> Any:
    return partial(decide_register, sent=Sent(subject, Content("AVRO", text)), terms=TERMS)


class FaultyLog(MemoryLog):
    """A log whose next append does what the test says: fails before, fails after, or is overtaken."""

    def __init__(self) -> None:
        super().__init__()
        self.fault: str | None = None
        self.batches: list[int] = []

    def append(self, records: Sequence[Record], after: Offset, _epoch: int = 0, /) -> Offset:
        fault, self.fault = self.fault, None
        self.batches.append(len(records))
        if fault == "refused":
            raise LogError("the disk is full")
        if any(b"too large" in (record.value or b"") for record in records):
            raise RecordTooLarge("the broker takes no record of this size")
        if fault == "overtaken":
            value = b'{"subject":"s","version":1,"id":1,"schemaType":"AVRO","schema":"\\"int\\"","deleted":false}'
            key = b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}'
            super().append([Record(key, value, 0)], after)
            raise WriteConflict("another writer was faster")
        if fault == "unknown, lost":
            raise OutcomeUnknown("the connection was cut")
        last = super().append(records, after)
        if fault == "unknown, written":
            raise OutcomeUnknown("the connection was cut")
        return last


@pytest.fixture
def log() -> FaultyLog:
    return FaultyLog()


@pytest.fixture
def view() -> View:
    return View()


@pytest.fixture
def committer(log: FaultyLog, view: View) -> Iterator[Committer]:
    committer = Committer(log, view)
    committer.start()
    yield committer
    committer.stop()


def test_the_committer_appends_waiting_commands_together(log: FaultyLog, view: View) -> None:
    committer = Committer(log, view)
    waiting = [committer.submit(registration(f"s{number}", f'"{name}"')) for number, name in enumerate(NAMES)]
    committer.start()
    assert [future.result(60).schema_id for future in waiting] == [1, 2, 3, 4]
    committer.stop()
    assert log.batches == [4]


NAMES = ("int", "long", "string", "bytes")


def test_clients_take_turns(log: FaultyLog, view: View) -> None:
    committer = Committer(log, view, most_in_batch=4)
    for number in range(20):
        committer.submit(registration(f"many{number}", '"int"'), "User:many")
    few = [committer.submit(registration(f"few{number}", '"int"'), "User:few") for number in range(2)]
    committer.start()
    assert [outcome.result(60).number for outcome in few] == [1, 1]
    committer.stop()
    subjects = [json.loads(entry.key or b"")["subject"] for entry in log.read(-1)]
    assert subjects[:6] == ["many0", "few0", "many1", "few1", "many2", "many3"]
    assert subjects[6:] == [f"many{number}" for number in range(4, 20)]
    assert log.batches == [4] * 5 + [2]


def test_commands_that_take_long_to_decide_are_split_into_batches_in_their_order(log: FaultyLog, view: View) -> None:
    committer = Committer(log, view)
    for number in range(6):
        committer.submit(costly(f"many{number}"), "User:many")
    committer.submit(costly("few"), "User:few")
    committer.start()
    committer.stop()
    subjects = [json.loads(entry.key or b"")["subject"] for entry in log.read(-1)]
    assert subjects == ["many0", "few", "many1", "many2", "many3", "many4", "many5"]
    assert log.batches == [2, 2, 2, 1]


def costly(subject: str) -> Command[Version]:
    """A registration that takes 20 ms of processor time; a batch has 30 ms."""
    register = registration(subject, '"int"')

    def decide(view: View, now: int) -> Decision[Version]:
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        return register(view, now)

    return decide


def test_a_command_sees_earlier_decisions_of_its_batch(log: FaultyLog, view: View) -> None:
    committer = Committer(log, view)
    same = [committer.submit(registration("s", '"int"')) for _ in range(12)]
    other = committer.submit(registration("s", '"string"'))
    committer.start()
    assert {(future.result(60).number, future.result(60).schema_id) for future in same} == {(1, 1)}
    with pytest.raises(ApiError) as raised:
        other.result(60)
    assert raised.value.kind is errors.INCOMPATIBLE_SCHEMA
    committer.stop()
    assert len(list(log.read(-1))) == 1


@pytest.mark.parametrize("fault", ["unknown, lost", "unknown, written", "overtaken"])
def test_the_committer_learns_the_outcome_of_a_batch_before_it_answers(
    committer: Committer, log: FaultyLog, view: View, fault: str
) -> None:
    log.fault = fault
    version = committer.submit(registration("s", '"int"')).result(60)
    assert (version.number, version.schema_id) == (1, 1)
    assert [version.number for version in view.versions("s")] == [1]
    assert len(list(log.read(-1))) == 1


def test_compatibility_is_decided_again_after_another_writer(committer: Committer, log: FaultyLog) -> None:
    log.fault = "overtaken"
    with pytest.raises(ApiError) as raised:
        committer.submit(registration("s", '"string"')).result(60)
    assert raised.value.kind is errors.INCOMPATIBLE_SCHEMA


def test_the_committer_repeats_decisions_on_an_outdated_view(log: FaultyLog, view: View) -> None:
    """Another node appends, and a reader of this one catches up, while a command is being decided."""
    committer = Committer(log, view)
    theirs = b'{"subject":"t","version":1,"id":1,"schemaType":"AVRO","schema":"\\"int\\"","deleted":false}'
    overtaken: list[bool] = []

    def command(overlay: View, now: int) -> Decision[Any]:
        decision: Decision[Any] = registration("s", '"string"')(overlay, now)
        if not overtaken:
            overtaken.append(True)
            MemoryLog.append(log, [Record(b'{"keytype":"SCHEMA","subject":"t","version":1,"magic":1}', theirs, 0)], -1)
            committer.catch_up()
        return decision

    committer.start()
    assert committer.submit(command).result(60).schema_id == 2
    committer.stop()
    assert view.passed_over == {}
    assert [version.subject for version in view.with_id(".", 2)] == ["s"]


def test_where_the_log_refuses_nothing_of_the_batch_happened(log: FaultyLog, view: View) -> None:
    committer = Committer(log, view)
    waiting = [committer.submit(registration("a", '"int"')), committer.submit(registration("b", '"int"'))]
    log.fault = "refused"
    committer.start()
    for outcome in waiting:
        with pytest.raises(LogError, match="the disk is full"):
            outcome.result(60)
    assert view.subjects() == []
    assert committer.submit(registration("a", '"int"')).result(60).schema_id == 1
    committer.stop()


def test_the_committer_refuses_only_the_record_that_is_too_large_for_the_log(log: FaultyLog, view: View) -> None:
    committer = Committer(log, view)
    large = record_of("R", '{"name":"a","type":"int","doc":"too large"}')
    waiting = [committer.submit(registration(*command)) for command in (("a", '"int"'), ("b", large), ("c", '"long"'))]
    committer.start()
    assert [waiting[0].result(60).schema_id, waiting[2].result(60).schema_id] == [1, 2]
    with pytest.raises(RecordTooLarge):
        waiting[1].result(60)
    committer.stop()
    assert sorted(view.subjects()) == ["a", "c"]


def test_a_defect_in_one_command_fails_that_command_alone(committer: Committer) -> None:
    def broken(_view: View, _now: int) -> Decision[None]:
        raise ZeroDivisionError

    outcome: Outcome[None] = committer.submit(broken)
    with pytest.raises(ZeroDivisionError):
        outcome.result(60)
    assert committer.submit(registration("s", '"int"')).result(60).number == 1


def test_of_mutually_incompatible_schemas_at_once_exactly_one_wins(committer: Committer) -> None:
    texts = [record_of("R", f'{{"name":"f{number}","type":"int"}}') for number in range(16)]
    barrier = threading.Barrier(len(texts))
    outcomes: list[bool] = []

    def register(text: str) -> None:
        barrier.wait()
        try:
            committer.submit(registration("s", text)).result(60)
        except ApiError:
            outcomes.append(False)
        else:
            outcomes.append(True)

    threads = [threading.Thread(target=register, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * 15 + [True]


SUBJECTS = st.sampled_from(["a", "b", ":.c:a"])
TEXTS = st.sampled_from(
    [
        '"int"',
        '"long"',
        '{"type":"string"}',
        record_of("R", ""),
        record_of("R", '{"name":"x","type":"int","default":1}'),
        record_of("R", '{"name":"x","type":"int"}'),
        "not a schema",
    ]
)
VERSIONS = st.sampled_from([None, 1, 2, 3])
COMMANDS = st.one_of(
    st.builds(registration, SUBJECTS, TEXTS),
    st.builds(
        lambda subject, number, permanent: partial(
            decide_delete_version, subject=subject, number=number, permanent=permanent
        ),
        SUBJECTS,
        VERSIONS,
        st.booleans(),
    ),
    st.builds(
        lambda subject, permanent: partial(decide_delete_subject, subject=subject, permanent=permanent),
        SUBJECTS,
        st.booleans(),
    ),
    st.builds(lambda subject, number: partial(decide_undelete, subject=subject, number=number), SUBJECTS, VERSIONS),
    st.builds(
        lambda subject, level: partial(decide_put_config, subject=subject, update={"compatibility": level}),
        st.one_of(st.none(), SUBJECTS),
        st.sampled_from(["NONE", "FULL", "BACKWARD", "WRONG", None]),
    ),
    st.builds(
        lambda subject: partial(decide_delete_config, subject=subject, terms=TERMS), st.one_of(st.none(), SUBJECTS)
    ),
    st.builds(
        lambda subject, name, force: partial(decide_put_mode, subject=subject, name=name, terms=TERMS, force=force),
        st.one_of(st.none(), SUBJECTS),
        st.sampled_from(["READWRITE", "READONLY", "IMPORT", None]),
        st.booleans(),
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(COMMANDS, max_size=40), st.data())
def test_the_live_view_is_the_replayed_view_and_no_id_has_two_meanings(
    commands: list[Any], data: st.DataObject
) -> None:
    log, live = FaultyLog(), View()
    committer = Committer(log, live, most_in_batch=data.draw(st.integers(1, 8)))
    committer.start()
    meanings: dict[tuple[str, int], str] = {}
    for command in commands:
        log.fault = data.draw(st.sampled_from([None, None, None, "unknown, lost", "unknown, written"]))
        try:
            committer.submit(command).result(60)
        except ApiError:
            continue
        for version in chain.from_iterable(map(live.versions, live.subjects())):
            identity = (version.subject.rpartition(":")[0], version.schema_id)
            assert meanings.setdefault(identity, version.content.text) == version.content.text
    committer.stop()
    replayed = View()
    for entry in log.read(-1):
        replayed.apply(entry)
    assert contents_of(live) == contents_of(replayed)
    assert replayed.passed_over == {}


def contents_of(view: View) -> dict[str, Any]:
    found = {}
    for name, table in vars(view.tables).items():
        found[name] = {key: table.get(key) for key in table if table.get(key)}
    return found


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(commands=st.lists(COMMANDS, min_size=5, max_size=30))
def test_the_live_view_is_the_replayed_view_on_every_log(open_log: Callable[[], Log], commands: list[Any]) -> None:
    # Each example continues with the log of the one before.
    log, live = open_log(), View()
    committer = Committer(log, live)
    committer.catch_up()
    committer.start()
    for answered in [committer.submit(command) for command in commands]:
        with suppress(ApiError):
            answered.result(30)
    committer.stop()
    replayed = View()
    for entry in log.read(BEGINNING):
        replayed.apply(entry)
    assert contents_of(live) == contents_of(replayed)
    assert replayed.passed_over == {}
