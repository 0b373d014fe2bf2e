"""`magicbyte dead-letter` on real topics: letters are counted, shown, sent back once, and deleted."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from compat.schema import AVRO, JSON, PROTOBUF, SchemaText
from magicbyte.cli.dead_letter import main
from magicbyte.cli.dead_letter.options import letters_topic
from magicbyte.cli.subcommands import parser_of
from magicbyte.dead_letters.sending import Fenced, Sender, Sent
from serdes.client.clients import RegistryClient
from serdes.console.produce.outbox import Record
from serdes.letters.headers import DeadLetter
from serdes.letters.letter import RecordPosition, Replayed
from serdes.message import wire
from tests.serdes.letters.letter_topic import OCTOBER, VALUE, LetterTopic
from tests.topics import create_topics

NO_GUID = "00000000-0000-0000-0000-000000000000"


class Desk(LetterTopic):
    """A source topic, its letters, and the command."""

    def __init__(self, kafka: str, registry: RegistryClient, source: str, capsys: Any) -> None:
        super().__init__(kafka, registry, source)
        self._capsys = capsys

    def run(self, command: str, *arguments: str, code: int = 0) -> Any:
        where = ["--bootstrap-server", self.kafka]
        if command in {"show", "replay"}:
            where += ["--schema-registry-url", self.registry.urls[0]]
        done = main.main([command, self.letters, *where, *arguments])
        shown = self._capsys.readouterr()
        self.err = shown.err
        assert done == code, shown
        return json.loads(shown.out) if "json" in arguments else shown.out


@pytest.fixture
def desk(kafka: str, registry_url: str, topic: str, capsys: Any) -> Desk:
    return Desk(kafka, RegistryClient(registry_url), topic, capsys)


def test_letters_are_grouped_by_their_reasons(desk: Desk):
    for offset in range(3):
        desk.bury(b"x", offset, message=f"magic byte at offset {offset}")
    # Written twice, since the writer crashed.
    desk.bury(b"x", 2, message="magic byte at offset 2")
    desk.bury(b"x", 3, "streams", stage="TASK_PUT", message="null", connector="other", schema_id=9)
    desk.bury(b"x", 4, "spring", message="null", connector="shop")
    producer = Producer({"bootstrap.servers": desk.kafka})
    producer.produce(desk.letters, b"no headers", timestamp=OCTOBER + 9)
    assert producer.flush(20) == 0
    groups = desk.run("list", "--output", "json")["groups"]
    largest = groups[0]
    assert (largest["reason"], largest["stage"]) == ("magic byte at offset #", "VALUE_CONVERTER")
    assert (largest["letters"], largest["repeated"]) == (3, 1)
    assert groups[0]["first"] == {"partition": 0, "offset": 0, "timestamp": OCTOBER}
    assert groups[0]["last"] == {"partition": 0, "offset": 3, "timestamp": OCTOBER + 2}
    assert sorted((group["reason"], group["stage"]) for group in groups[1:]) == [
        ("no headers of a dead letter", None), ("null", "TASK_PUT"), ("null", "VALUE_CONVERTER"),
    ]  # fmt: skip
    by = {
        group["name"]: group["letters"] for group in desk.run("list", "--by", "pipeline", "--output", "json")["groups"]
    }
    assert by == {"app": 3, "other": 1, "shop": 1, "-": 1}
    by = {
        group["name"]: group["letters"] for group in desk.run("list", "--by", "schema-id", "--output", "json")["groups"]
    }
    assert by == {"9": 1, "-": 5}
    where = ("--where", "stage = 'TASK_PUT' OR pipeline = 'shop'", "--by", "topic", "--output", "json")
    assert [(group["name"], group["letters"]) for group in desk.run("list", *where)["groups"]] == [(desk.source, 2)]
    since = ("--from", str(OCTOBER + 4), "--output", "json")
    assert sum(group["letters"] for group in desk.run("list", *since)["groups"]) == 2
    lines = desk.run("list").splitlines()
    assert lines[0] == f"{desk.letters}: 6 letters, 0 of them replayed"
    assert lines[1].split() == ["fingerprint", "letters", "repeated", "first", "last", "stage", "reason"]
    assert lines[2].split()[1:] == [
        "3", "1", "0:0", "2026-10-01T00:00:00Z", "0:3", "2026-10-01T00:00:00Z", "VALUE_CONVERTER", "magic", "byte",
        "at", "offset", "#",
    ]  # fmt: skip


def test_a_letter_is_shown_with_the_byte_where_decoding_stopped(desk: Desk):
    schema_id = desk.register()
    cut = wire.prefix(schema_id) + VALUE[:-1]
    desk.bury(cut, 0, message="truncated", schema_id=schema_id, timestamp=OCTOBER)
    shown = desk.run("show", "--at", "0:0")
    assert f"  origin      {desk.source} 0:0 of 2026-10-01T00:00:00Z\n" in shown
    assert "  pipeline    app\n  stage       VALUE_CONVERTER\n" in shown
    assert "  replayed    never\n  header      own: h\n" in shown
    assert f"  00000000  {cut.hex(' ')}" in shown
    assert f"  schema      {schema_id}, AVRO, {desk.source}-value version 1\n" in shown
    assert "  stopped at  $.carrier byte 6\n" in shown
    assert "key: 2 bytes\n  00000000  6b 30 " in shown
    assert '  decoded     "k0"\nvalue: ' in shown
    value = desk.run("show", "--at", "0:0", "--output", "json")["value"]
    assert (value["path"], value["byte"], value["decoded"]) == ("$.carrier", 6, None)
    desk.bury(b"\x09nonsense", 1)
    assert "  stopped at  byte 0\n" in desk.run("show", "--at", "0:1")
    desk.bury(wire.prefix(999_999) + b"x", 2)
    value = desk.run("show", "--at", "0:2", "--output", "json")["value"]
    assert (value["schemaId"], value["schema"], value["byte"]) == ("999999", None, 1)
    desk.bury(wire.prefix(schema_id) + VALUE, 3)
    assert desk.run("show", "--at", "0:3", "--output", "json")["value"]["decoded"] == {"id": 7, "carrier": "UA"}
    desk.bury(None, 4)
    assert "value: none\n" in desk.run("show", "--at", "0:4")
    desk.run("show", "--at", "0:5", code=2)
    assert desk.err.endswith(f"{desk.letters} has offsets 0 to 4 in partition 0\n")


def test_json_and_protobuf_letters_are_shown_with_path_and_byte(desk: Desk):
    json_id = desk.register('{"type": "object", "properties": {"a": {"type": "array"}}}', JSON)
    desk.bury(wire.prefix(json_id) + b'{"a": [1, tru]}', 0)
    value = desk.run("show", "--at", "0:0", "--output", "json")["value"]
    assert (value["path"], value["byte"]) == ("$.a[1]", 5 + 10)
    desk.registry.put_config({"compatibility": "NONE"}, f"{desk.source}-value")
    proto_id = desk.register('syntax = "proto3"; message A { B b = 1; message B { string s = 2; } }', PROTOBUF)
    desk.bury(wire.prefix(proto_id) + b"\0" + b"\x0a\x04\x12\x05ab", 1)
    value = desk.run("show", "--at", "0:1", "--output", "json")["value"]
    assert (value["schemaType"], value["path"], value["byte"]) == ("PROTOBUF", "$.b.s", 8)


def test_replay_sends_what_decodes_with_its_own_key_headers_and_time(desk: Desk):
    schema_id = desk.register()
    good = wire.prefix(schema_id) + VALUE
    desk.bury(good, 0, message="the database was away", stage="TASK_PUT", timestamp=OCTOBER - 5)
    desk.bury(good[:-1], 1)
    desk.bury(b"plain", 2)
    desk.bury(wire.prefix(888_888), 3)
    desk.bury(None, 5, stage="KEY_CONVERTER")
    dry = desk.run("replay", "--dry-run", "--output", "json", code=100)
    told = {"topic": desk.letters, "sent": {desk.source: 1}, "stay": {"would fail again": 4}}
    assert dry == told | {"dryRun": True}
    assert desk.records() == []
    assert f"{desk.letters} 0:1 stays, would fail again: value: " in desk.err
    assert f"{desk.letters} 0:2 stays, would fail again: the value does not begin with a schema id" in desk.err
    assert f"{desk.letters} 0:4 stays, would fail again: the key does not begin with a schema id" in desk.err
    assert desk.run("replay", "--output", "json", code=100) == told | {"dryRun": False}
    (record,) = desk.records()
    assert (record.partition(), record.key(), record.value(), record.timestamp()[1]) == (0, b"k0", good, OCTOBER - 5)
    assert record.headers() == [("own", b"h"), ("__errors.replay", b"1")]
    again = desk.run("replay", "--output", "json", code=100)
    assert (again["sent"], again["stay"]) == ({}, {"replayed before": 1, "would fail again": 4})
    assert [group["replayed"] for group in desk.run("list", "--output", "json")["groups"]].count(1) == 1
    assert "replayed    1 times since" in desk.run("show", "--at", "0:0")
    forced = desk.run("replay", "--force", "--max-messages", "2", "--output", "json")
    assert (forced["sent"], forced["stay"]) == ({desk.source: 2}, {"replayed before": 1})


def test_a_third_replay_is_refused(desk: Desk):
    good = wire.prefix(desk.register()) + VALUE
    desk.bury(good, 0, stage="TASK_PUT")
    for attempt in (1, 2):
        assert desk.run("replay", "--again").startswith(f"{desk.letters}: 1 letter sent\n")
        assert desk.records()[-1].headers()[-1] == ("__errors.replay", str(attempt).encode())
    refused = desk.run("replay", "--again", "--output", "json", code=100)
    assert (refused["sent"], refused["stay"]) == ({}, {"replayed too often": 1})
    assert "it was replayed 2 times, and --max-attempts is 2" in desk.err
    assert desk.run("replay", "--again", "--max-attempts", "3", "--output", "json")["sent"] == {desk.source: 1}


def test_a_record_that_fails_again_carries_the_count(desk: Desk):
    good = wire.prefix(desk.register()) + VALUE
    letter = DeadLetter(desk.source, 0, 17, stage="TASK_PUT", connector="app")
    producer = Producer({"bootstrap.servers": desk.kafka})
    for count, offset in ((1, 17), (2, 18)):
        headers = [("__errors.replay", b"%d" % count), *DeadLetter(desk.source, 0, offset, stage="TASK_PUT").headers()]
        producer.produce(desk.letters, good, headers=headers)
    assert producer.flush(20) == 0
    assert letter.offset == 17
    done = desk.run("replay", "--output", "json", code=100)
    assert (done["sent"], done["stay"]) == ({desk.source: 1}, {"replayed too often": 1})
    assert desk.records()[0].headers() == [("__errors.replay", b"2")]


def test_fixes_and_other_targets(desk: Desk, tmp_path: Path):
    schema_id = desk.register()
    desk.bury(b"\x09" + struct.pack(">I", schema_id) + VALUE, 0, message="wrong magic byte")
    desk.bury(wire.prefix(777_777) + VALUE, 1, message="unknown id")
    script = tmp_path / "fix.py"
    script.write_text(
        "def fix(value, letter):\n"
        "    if letter.failure.message == 'unknown id':\n"
        "        raise ValueError('no idea')\n"
        "    return b'\\0' + value[1:]\n"
    )
    done = desk.run("replay", "--fix-with", str(script), "--output", "json", code=100)
    assert (done["sent"], done["stay"]) == ({desk.source: 1}, {"not fixed": 1})
    assert "0:1 stays, not fixed: fix failed: line 3: ValueError: no idea" in desk.err
    where = ("--where", "reason = 'unknown id'", "--schema-id", str(schema_id))
    target = f"{desk.source}-copy"
    absent = desk.run("replay", *where, "--to-topic", target, "--output", "json", code=100)
    assert absent["stay"] == {"no topic to send to": 1}
    create_topics(desk.admin, NewTopic(target, 1))
    assert desk.run("replay", *where, "--to-topic", target, "--output", "json")["sent"] == {target: 1}
    sound = wire.prefix(schema_id) + VALUE
    assert [record.value() for record in desk.records()] == [sound]
    assert [record.value() for record in desk.records(target)] == [sound]


def test_letters_keep_frames_in_headers(desk: Desk):
    schema_id = desk.register()
    guid = desk.registry.schema_by_id(schema_id).guid
    assert guid is not None
    header, unknown = ("__value_schema_id", wire.guid_bytes(guid)), ("__value_schema_id", wire.guid_bytes(NO_GUID))
    desk.bury(VALUE, 0, own=[header], stage="TASK_PUT")
    desk.bury(wire.prefix(schema_id) + VALUE, 2, stage="TASK_PUT")
    desk.bury(VALUE[:-1], 4, own=[header])
    desk.bury(VALUE, 6, own=[unknown])
    desk.bury(VALUE, 8, own=[("__value_schema_id", b"broken")])
    groups = desk.run("list", "--by", "schema-id", "--output", "json")["groups"]
    assert {group["name"]: group["letters"] for group in groups} == {guid: 2, str(schema_id): 1, NO_GUID: 1, "-": 1}
    where = ("--where", f"schema_guid = '{guid}'", "--output", "json")
    assert [group["letters"] for group in desk.run("list", *where)["groups"]] == [1, 1]
    shown = desk.run("show", "--at", "0:0")
    assert f"  header      __value_schema_id: {header[1].hex(' ')}\n" in shown
    assert f"  schema      {guid}, AVRO\n" in shown
    assert '  decoded     {"id":7,"carrier":"UA"}\n' in shown
    value = desk.run("show", "--at", "0:2", "--output", "json")["value"]
    assert (value["schemaId"], value["path"], value["byte"]) == (guid, "$.carrier", 1)
    value = desk.run("show", "--at", "0:4", "--output", "json")["value"]
    assert (value["schemaId"], value["byte"]) == (None, 0)
    assert value["problem"].startswith("unknown magic byte")
    done = desk.run("replay", "--output", "json", code=100)
    assert (done["sent"], done["stay"]) == ({desk.source: 2}, {"would fail again": 3})
    sent = [("own", b"h"), header, ("__errors.replay", b"1")]
    assert [(record.value(), record.headers()) for record in desk.records()] == [
        (VALUE, sent),
        (wire.prefix(schema_id) + VALUE, [("own", b"h"), ("__errors.replay", b"1")]),
    ]
    # The right schema goes into the header, where the frame is.
    fix = ("--where", f"schema_guid = '{NO_GUID}' or schema_guid is null", "--output", "json")
    done = desk.run("replay", *fix, "--schema-id", "999999", code=100)
    assert done["stay"] == {"not fixed": 2, "replayed before": 1}
    assert "not fixed: Schema 999999 not found" in desk.err
    done = desk.run("replay", *fix, "--schema-id", str(schema_id))
    assert (done["sent"], done["stay"]) == ({desk.source: 2}, {"replayed before": 1})
    assert [(record.value(), record.headers()) for record in desk.records()][2:] == [(VALUE, sent)] * 2


def test_a_key_with_its_frame_in_a_header_is_replayed(desk: Desk):
    schema_id = desk.registry.register(f"{desk.source}-key", SchemaText(AVRO, '"string"')).id
    guid = desk.registry.schema_by_id(schema_id).guid
    assert guid is not None
    header = ("__key_schema_id", wire.guid_bytes(guid))
    # The keys are k0 and so on: no Avro strings.
    desk.bury(None, 0, own=[header], stage="KEY_CONVERTER")
    assert [group["name"] for group in desk.run("list", "--by", "schema-id", "--output", "json")["groups"]] == [guid]
    shown = desk.run("show", "--at", "0:0", "--output", "json")["key"]
    assert (shown["schemaId"], shown["decoded"], shown["byte"]) == (guid, None, 0)
    done = desk.run("replay", "--output", "json", code=100)
    assert (done["sent"], done["stay"]) == ({}, {"would fail again": 1})


def test_protobuf_letters_are_shown_with_indexes_in_the_header(desk: Desk):
    text = 'syntax = "proto3"; message A { B b = 1; message B { string s = 2; } } message C { A a = 3; }'
    guid = desk.registry.schema_by_id(desk.register(text, PROTOBUF)).guid
    assert guid is not None
    for offset, (indexes, place) in enumerate(
        ((b"\x02\x02", ("$.a.b.s", 4)), (b"\x02\x02more", ("$.a.b.s", 4)), (b"", ("$", 0)))
    ):
        header = ("__value_schema_id", wire.guid_bytes(guid) + indexes)
        desk.bury(b"\x1a\x06\x0a\x04\x12\x05ab", offset, own=[header])
        value = desk.run("show", "--at", f"0:{offset}", "--output", "json")["value"]
        assert (value["schemaType"], value["path"], value["byte"]) == ("PROTOBUF", *place)


def test_a_masked_letter_is_not_sent_as_a_tombstone(desk: Desk):
    desk.bury(None, 0, stage="TASK_PUT", masked=True)
    done = desk.run("replay", "--force", "--output", "json", code=100)
    assert (done["sent"], done["stay"]) == ({}, {"masked": 1})


@pytest.mark.parametrize("form", ["streams", "spring"])
def test_replay_drops_the_headers_of_foreign_letters(desk: Desk, form: str):
    good = wire.prefix(desk.register()) + VALUE
    exception = "org.apache.kafka.common.errors.SerializationException"
    desk.bury(good, 1, form, stage=None, exception=exception, message="no schema yet")
    desk.bury(b"text", 3, form, stage=None, exception=exception, message="no schema yet")
    done = desk.run("replay", "--output", "json", code=100)
    assert (done["sent"], done["stay"]) == ({desk.source: 1}, {"would fail again": 1})
    (record,) = desk.records()
    assert (record.partition(), record.headers()) == (1, [("own", b"h"), ("__errors.replay", b"1")])


def test_replay_names_the_other_readers_of_the_topic(desk: Desk):
    desk.bury(wire.prefix(desk.register()) + VALUE, 0, stage="TASK_PUT", connector="lake")
    for group in ("connect-lake", f"billing-{desk.source}"):
        consumer = Consumer({"bootstrap.servers": desk.kafka, "group.id": group})
        consumer.commit(offsets=[TopicPartition(desk.source, 0, 1)], asynchronous=False)
        consumer.close()
    desk.run("replay")
    assert desk.err == (
        f"magicbyte dead-letter: warning: {desk.source} is also read by billing-{desk.source}: they see these records a"
        " second time\n"
    )


def test_purge_deletes_up_to_the_first_letter_that_was_not_replayed(desk: Desk):
    good = wire.prefix(desk.register()) + VALUE
    for offset, value in enumerate((good, good, b"bad", good)):
        desk.bury(value, offset)
    desk.run("replay", code=100)
    assert desk.run("purge", "--replayed", "--dry-run") == f"{desk.letters}: 2 letters would be deleted\n"
    assert len(desk.records(desk.letters)) == 4
    done = desk.run("purge", "--replayed", "--output", "json")
    assert done == {"topic": desk.letters, "dryRun": False, "deleted": 2, "offsets": {"0": 2}}
    assert [letter.offset() for letter in desk.records(desk.letters)] == [2, 3]
    # The letter behind the first that stays is still known as replayed; the deleted ones are forgotten.
    assert desk.run("replay", "--output", "json", code=100)["stay"] == {"replayed before": 1, "would fail again": 1}
    states = {record.key(): record.value() for record in desk.records(f"{desk.letters}.state")}
    assert [key for key, value in states.items() if value is not None] == [
        json.dumps([desk.source, 1, 3], separators=(",", ":")).encode()
    ]


@pytest.fixture
def senders(desk: Desk) -> Iterator[Callable[[], Sender]]:
    """Starts a program that sends the letters back."""
    desk.bury(b"x", 0)
    options = parser_of("x", None, main._COMMANDS).parse_args(
        ["purge", desk.letters, "--replayed", "--bootstrap-server", desk.kafka]
    )
    topic = letters_topic(options)
    yield lambda: Sender(topic)
    topic.close()


def test_a_second_replay_fences_the_first(desk: Desk, senders: Callable[[], Sender]):
    first, _ = senders(), senders()
    sent = Sent(desk.source, Record(b"k", b"v"), (desk.source, 0, 0), Replayed(1, 0, desk.source))
    with pytest.raises(Fenced, match=r"another replay or purge of .* took over; nothing is sent twice"):
        first.send([sent])
    assert desk.records() == []


def test_a_second_replay_fences_the_first_in_the_middle_of_a_batch(desk: Desk, senders: Callable[[], Sender]):
    """The producer learns of it while it takes records; its next `produce` only tells that it has failed."""

    class Long(list[RecordPosition]):
        def __iter__(self) -> Iterator[RecordPosition]:
            yield (desk.source, 0, 0)
            senders()
            for offset in range(10_000):
                time.sleep(0.01)
                yield (desk.source, 0, offset)

    first = senders()
    with pytest.raises(Fenced, match=r"another replay or purge of .* took over; nothing is sent twice"):
        first.forget(Long([(desk.source, 0, 0)]))


def test_a_record_that_cannot_be_sent_sends_nothing_of_its_batch(desk: Desk):
    desk.bury(b"small", 0, stage="TASK_PUT")
    desk.bury(b"x" * 2000, 2, stage="TASK_PUT")
    small = ("--command-property", "message.max.bytes=1000")
    desk.run("replay", *small, code=1)
    assert f"nothing of the last batch was sent: the record of {desk.source} 0:2 cannot be sent: " in desk.err
    assert desk.records() == []
    done = desk.run("replay", *small, "--rate", "1", "--output", "json", code=1)
    assert done["sent"] == {desk.source: 1}
    assert [record.value() for record in desk.records()] == [b"small"]
    assert desk.run("replay", "--rate", "100", "--output", "json")["sent"] == {desk.source: 1}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "a b"], "'a b' is no topic's name"),
        (["purge", "t"], "--replayed"),
        (["replay", "t", "--max-messages", "0"], "--max-messages and --rate must be at least 1"),
        (["replay", "t", "--fix-with", "f.py", "--schema-id", "1"], "not allowed with argument"),
        (["show", "t", "--at", "7"], "--at must be PARTITION:OFFSET, not '7'"),
        ([], "list | show | replay | purge"),
    ],
)
def test_wrong_calls_exit_with_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_wrong_conditions_and_absent_topics(desk: Desk):
    desk.run("list", "--where", "stagee = 1", code=2)
    assert "--where stagee = 1: no such column: stagee; the columns are letter_partition, letter_offset" in desk.err
    desk.run("replay", "--fix-with", "/none.py", code=2)
    assert desk.err == "magicbyte dead-letter: --fix-with: there is no file /none.py\n"
    desk.letters = "no-such-topic"
    desk.run("list", code=3)
    assert desk.err == "magicbyte dead-letter: topic no-such-topic does not exist\n"
