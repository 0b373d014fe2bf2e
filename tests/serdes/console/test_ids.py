"""`magicbyte ids` on real topics: planted ids are counted exactly, and what is no id is told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from compat.schema import AVRO, SchemaText
from magicbyte.cli.ids import main
from magicbyte.topic_ids import tally
from magicbyte.topic_ids.scan import Scanner, Selection
from magicbyte.topic_ids.tally import Tally
from magicbyte.topic_ids.timed_position import TimedPosition
from serdes.client.clients import RegistryClient
from serdes.console.kafka import consumer_config
from serdes.error import RegistryUnavailable
from serdes.message import wire
from tests.topics import create_topics

#: 2026-01-01T00:00:00Z.
NEW_YEAR = 1_767_225_600_000
HOUR = 3_600_000


def framed(schema_id: int, payload: bytes = b"x") -> bytes:
    return wire.prefix(schema_id) + payload


def make_topic(kafka: str, topic: str, partitions: int, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, NewTopic(topic, partitions, 1, config=config))


def send_all(kafka: str, topic: str, records: list[dict[str, Any]]) -> None:
    producer = Producer({"bootstrap.servers": kafka, "linger.ms": 20, "queue.buffering.max.messages": 2_000_000})
    for record in records:
        producer.produce(topic, **record)
    assert producer.flush(60) == 0


def counted(tools: Any, topic: str, *arguments: str) -> dict[str, Any]:
    done = tools.magicbyte("ids", topic, "--output", "json", *arguments)
    assert done.code == 0, done.err
    (value,) = json.loads(done.out)["topics"]
    return dict(value)


def by_id(value: dict[str, Any]) -> dict[int, int]:
    return {schema["id"]: schema["records"] for schema in value["schemas"]}


@pytest.fixture
def client(registry_url: str) -> RegistryClient:
    return RegistryClient(registry_url)


def test_ids_are_counted_with_their_places(tools: Any, kafka: str, topic: str):
    make_topic(kafka, topic, 2)
    at = [(0, 71, 0), (0, 71, 2), (0, 72, 1), (1, 71, 1), (1, 73, 5)]
    send_all(
        kafka,
        topic,
        [
            {"value": framed(schema_id, b"12345"), "partition": partition, "timestamp": NEW_YEAR + hour * HOUR}
            for partition, schema_id, hour in at
        ],
    )
    value = counted(tools, topic, "--schema-registry-url", "none")
    assert value == {
        "topic": topic,
        "part": "value",
        "complete": True,
        "sample": None,
        "offsets": {"0": {"from": 0, "to": 3}, "1": {"from": 0, "to": 2}},
        "records": 5,
        "schemas": [
            {
                "id": 71, "guid": None, "known": None, "type": None, "versions": None, "records": 3, "bytes": 30,
                "first": {"partition": 0, "offset": 0, "timestamp": NEW_YEAR},
                "last": {"partition": 0, "offset": 1, "timestamp": NEW_YEAR + 2 * HOUR},
            },
            {
                "id": 72, "guid": None, "known": None, "type": None, "versions": None, "records": 1, "bytes": 10,
                "first": {"partition": 0, "offset": 2, "timestamp": NEW_YEAR + HOUR},
                "last": {"partition": 0, "offset": 2, "timestamp": NEW_YEAR + HOUR},
            },
            {
                "id": 73, "guid": None, "known": None, "type": None, "versions": None, "records": 1, "bytes": 10,
                "first": {"partition": 1, "offset": 1, "timestamp": NEW_YEAR + 5 * HOUR},
                "last": {"partition": 1, "offset": 1, "timestamp": NEW_YEAR + 5 * HOUR},
            },
        ],
        "tombstones": None,
        "notFramed": None,
        "moreFrames": 0,
    }  # fmt: skip
    shown = tools.magicbyte("ids", topic, "--schema-registry-url", "none")
    assert shown.out == (
        f"{topic}, values: 5 records in 2 partitions\n"
        "  id  records  share  bytes  first                     last\n"
        "  71        3  60.0%     30  0:0 2026-01-01T00:00:00Z  0:1 2026-01-01T02:00:00Z\n"
        "  72        1  20.0%     10  0:2 2026-01-01T01:00:00Z  0:2 2026-01-01T01:00:00Z\n"
        "  73        1  20.0%     10  1:1 2026-01-01T05:00:00Z  1:1 2026-01-01T05:00:00Z\n"
    )


def test_the_count_separates_records_without_an_id(tools: Any, kafka: str, topic: str, client: RegistryClient):
    text = '"string"'
    client.register(f"another-{topic}-value", SchemaText(AVRO, text))
    held = client.register(f"{topic}-value", SchemaText(AVRO, text))
    guid = wire.guid_bytes(str(held.guid))
    strange = wire.guid_bytes("00000000-0000-0000-0000-000000000001")
    values: list[tuple[bytes | None, Any]] = [
        (framed(held.id), None),
        (framed(held.id), [("other", b"x")]),
        # The header goes over what the value begins with.
        (framed(999_999), [("__value_schema_id", guid)]),
        (b"plain", {"__value_schema_id": guid}),
        (guid + b"payload", None),
        (strange + b"payload", None),
        (None, None),
        (None, [("__value_schema_id", guid)]),
        (b"", None),
        (b"\0\0\0", None),
        (b"\1short", None),
        (b"\1" * 16, None),
        (b'{"json": 1}', None),
        (b"x", [("__value_schema_id", b"\0bad")]),
        (b"x", [("__value_schema_id", guid[:5])]),
        # Of the key, and so of no concern.
        (framed(held.id), [("__key_schema_id", strange)]),
    ]
    send_all(kafka, topic, [{"value": value, "headers": headers} for value, headers in values])
    value = counted(tools, topic)
    schemas = [(schema["id"], schema["guid"], schema["known"], schema["records"]) for schema in value["schemas"]]
    assert schemas == [(held.id, held.guid, True, 6), (None, "00000000-0000-0000-0000-000000000001", False, 1)]
    assert value["tombstones"]["records"] == 2
    assert (value["notFramed"]["records"], value["notFramed"]["first"]["offset"]) == (7, 8)
    assert value["notFramed"]["last"]["offset"] == 14
    assert value["records"] == len(values)
    shown = tools.magicbyte("ids", topic).out.splitlines()
    # The topic's own subject before others that have the schema.
    assert shown[2].split()[:4] == [str(held.id), "AVRO", f"{topic}-value", "v1,"]
    assert [line.split()[:3] for line in shown[3:]] == [
        ["00000000-0000-0000-0000-000000000001", "not", "in"],
        ["-", "tombstones", "2"],
        ["-", "not", "framed"],
    ]


def test_keys_have_ids_of_their_own(tools: Any, kafka: str, topic: str):
    header = wire.guid_bytes("00000000-0000-0000-0000-000000000002")
    send_all(
        kafka,
        topic,
        [
            {"key": framed(31), "value": framed(32)},
            {"key": b"k", "value": framed(32), "headers": {"__key_schema_id": header}},
            {"key": None, "value": framed(32)},
        ],
    )
    value = counted(tools, topic, "--key", "--schema-registry-url", "none")
    assert (value["part"], by_id(value)[31], value["tombstones"]["records"]) == ("key", 1, 1)
    assert [schema["guid"] for schema in value["schemas"]] == [None, "00000000-0000-0000-0000-000000000002"]
    assert by_id(counted(tools, topic, "--schema-registry-url", "none")) == {32: 3}


def test_deleted_unknown_and_unused_versions(tools: Any, kafka: str, topic: str, client: RegistryClient):
    subject = f"{topic}-value"
    client.put_config({"compatibility": "NONE"}, subject)
    kinds = ("int", "long", "float", "double")
    ids = [client.register(subject, SchemaText(AVRO, f'{{"type": "{kind}"}}')).id for kind in kinds]
    client.delete_version(subject, 2)
    client.delete_version(subject, 3)
    send_all(kafka, topic, [{"value": framed(schema_id)} for schema_id in (ids[0], ids[1], ids[1], 4_000_000_000)])
    value = counted(tools, topic, "--unused")
    told = {schema["id"]: (schema["known"], schema["versions"]) for schema in value["schemas"]}
    assert told[4_000_000_000] == (False, [])
    assert {"subject": subject, "version": 1, "deleted": False} in told[ids[0]][1]
    assert {"subject": subject, "version": 2, "deleted": True} in told[ids[1]][1]
    assert [unused for unused in value["unused"] if unused["subject"] == subject] == [
        {"subject": subject, "version": 3, "deleted": True, "id": ids[2]},
        {"subject": subject, "version": 4, "deleted": False, "id": ids[3]},
    ]
    shown = tools.magicbyte("ids", topic, "--unused", "--fail-unknown")
    assert shown.code == 100
    assert "not in the registry" in shown.out
    assert f"{subject} v3 (deleted) (id {ids[2]}), {subject} v4 (id {ids[3]})" in shown.out
    assert "other topics, other contexts and copies elsewhere may" in shown.out


def test_from_to_and_sample(tools: Any, kafka: str, topic: str):
    make_topic(kafka, topic, 2)
    send_all(
        kafka,
        topic,
        [
            {"value": framed(number // 500), "partition": number % 2, "timestamp": NEW_YEAR + number}
            for number in range(2000)
        ],
    )
    alone = ("--schema-registry-url", "none")
    assert by_id(counted(tools, topic, *alone, "--from", "2026-01-01T00:00:01Z")) == {2: 500, 3: 500}
    assert by_id(counted(tools, topic, *alone, "--to", str(NEW_YEAR + 750))) == {0: 500, 1: 250}
    assert counted(tools, topic, *alone, "--from", str(NEW_YEAR + HOUR))["records"] == 0
    assert by_id(counted(tools, topic, *alone, "--sample", "4")) == {0: 200, 1: 200, 2: 200, 3: 200}
    shown = tools.magicbyte("ids", topic, *alone, "--sample", "1").out
    assert shown.startswith(f"{topic}, values: at least these, in a sample of 200 records in 2 partitions\n")
    # More places than there are records: each record is read once.
    assert by_id(counted(tools, topic, *alone, "--sample", "1500")) == {0: 500, 1: 500, 2: 500, 3: 500}


def test_transactions_and_empty_topics_have_an_end(tools: Any, kafka: str, topic: str):
    make_topic(kafka, topic, 1)
    alone = ("--schema-registry-url", "none")
    assert counted(tools, topic, *alone)["records"] == 0
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions()
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.produce(topic, framed(5))
        producer.flush()
        end()
    value = counted(tools, topic, *alone)
    assert (by_id(value), value["offsets"]) == ({5: 2}, {"0": {"from": 0, "to": 4}})
    committed = counted(tools, topic, *alone, "--command-property", "isolation.level=read_committed")
    assert by_id(committed) == {5: 1}


def test_records_that_come_meanwhile_are_left_out(kafka: str, topic: str):
    make_topic(kafka, topic, 2)
    send_all(kafka, topic, [{"value": framed(1), "partition": number % 2} for number in range(3000)])
    scanner = Scanner(consumer_config(kafka, {}, group="ids", committing=False), 30)
    opened = scanner.open(topic, Selection())
    send_all(kafka, topic, [{"value": framed(2), "partition": number % 2} for number in range(3000)])
    scanner.run(opened)
    scanner.close()
    assert {schema_id: usage.records for schema_id, usage in opened.tally.ids.items()} == {1: 3000}
    assert opened.is_complete


def test_an_interrupted_count_shows_its_partial_result(kafka: str, topic: str, monkeypatch: Any, capsys: Any):
    send_all(kafka, topic, [{"value": framed(1)} for _ in range(5000)])

    def interrupt(offsets: int) -> None:
        if offsets:
            raise KeyboardInterrupt

    monkeypatch.setattr(main, "_progress", lambda _: interrupt)
    arguments = [topic, "--bootstrap-server", kafka, "--schema-registry-url", "none", "--output", "json"]
    assert main.main(arguments) == 130
    (value,) = json.loads(capsys.readouterr().out)["topics"]
    assert value["complete"] is False
    assert 0 < value["records"] < 5000


def test_the_count_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tally, "MOST_FRAMES", 10)
    counts = Tally()
    batch = [
        Message(topic="t", partition=0, offset=number, value=framed(number), timestamp=(1, number))
        for number in range(30)
    ]
    texts = [Message(topic="t", partition=0, offset=30 + number, value=b"%d" % number) for number in range(30)]
    counts.add([*batch, *texts], {0: 100})
    assert (len(counts.ids), counts.more_frames, counts.records) == (10, 20, 60)
    assert counts.unframed is not None
    assert (counts.unframed.records, counts.unframed.first) == (30, TimedPosition(0, 30, None))


def test_a_batch_may_go_beyond_the_end_of_one_partition():
    counts = Tally()
    batch = [
        Message(topic="t", partition=number % 2, offset=number // 2, value=framed(number), timestamp=(1, number))
        for number in range(10)
    ]
    assert counts.add(batch, {0: 2, 1: 9}) == {0: 5, 1: 5}
    assert {schema_id: usage.records for schema_id, usage in counts.ids.items()} == {
        0: 1, 2: 1, 1: 1, 3: 1, 5: 1, 7: 1, 9: 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a b"], "'a b' is no topic's name"),
        (["t", "--from", "soon"], "--from must be milliseconds since 1970 or ISO 8601, not 'soon'"),
        (["t", "--sample", "0"], "--sample must be at least 1"),
        (["t", "--sample", "-1"], "--sample"),
        (["t", "--unused", "--sample", "3"], "--unused needs all records: it excludes --from, --to and --sample"),
        (["t", "--fail-unknown", "--schema-registry-url", "none"], "--unused and --fail-unknown need a registry"),
        ([], "TOPIC"),
    ],
)
def test_wrong_calls_exit_with_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_the_error_names_the_missing_topic_or_server(tools: Any, kafka: str, topic: str, monkeypatch: Any, capsys: Any):
    absent = tools.magicbyte("ids", topic)
    assert (absent.code, absent.err) == (3, f"magicbyte ids: topic {topic} does not exist\n")
    down = tools.magicbyte("ids", topic, "--schema-registry-url", "http://127.0.0.1:1")
    assert (down.code, down.out) == (3, "")
    assert "127.0.0.1:1" in down.err
    where = ("--bootstrap-server", "127.0.0.1:1", "--command-property", "default.api.timeout.ms=500")
    broker = tools.magicbyte("ids", topic, *where)
    assert broker.code == 3
    assert "the broker cannot be used" in broker.err
    # The usual registry need not be there.
    send_all(kafka, topic, [{"value": framed(1)}])
    monkeypatch.setattr("serdes.console.client.DEFAULT_URL", "http://127.0.0.1:1")
    assert main.main([topic, "--bootstrap-server", kafka]) == 0
    shown = capsys.readouterr()
    assert shown.err == "magicbyte ids: no registry at http://127.0.0.1:1: ids are counted, and not looked up\n"
    assert shown.out.splitlines()[2].split()[:3] == ["1", "1", "100.0%"]


def test_counts_outlast_the_registry(tools: Any, kafka: str, topic: str, monkeypatch: Any, capsys: Any):
    send_all(kafka, topic, [{"value": framed(1)}])

    def refuse(*_: Any) -> None:
        raise RegistryUnavailable("GET /schemas/ids/1", ("http://127.0.0.1:1",), 1, "gone")

    monkeypatch.setattr(RegistryClient, "schema_by_id", refuse)
    code = main.main([topic, "--bootstrap-server", kafka, "--schema-registry-url", tools.registry, "--output", "json"])
    shown = capsys.readouterr()
    assert code == 3
    assert by_id(json.loads(shown.out)["topics"][0]) == {1: 1}
    assert "127.0.0.1:1" in shown.err


@pytest.mark.slow
def test_a_million_records_are_counted_exactly(kafka: str, topic: str):
    """Ids planted at one record, at 1,000 and at 332,000 of 1,000,000."""
    make_topic(kafka, topic, 3)
    planted = {1: 1, 2: 1000, 3: 332_000, 4: 666_999}
    order = [schema_id for schema_id, count in planted.items() for _ in range(count)]
    # 7 has no factor in common with their number: each is taken once, and ids are spread.
    send_all(
        kafka,
        topic,
        [
            {"value": framed(order[number * 7 % len(order)], b"p" * 50), "partition": number % 3}
            for number in range(len(order))
        ],
    )
    scanner = Scanner(consumer_config(kafka, {}, group="ids", committing=False), 30)
    opened = scanner.open(topic, Selection())
    scanner.run(opened)
    scanner.close()
    assert {schema_id: usage.records for schema_id, usage in opened.tally.ids.items()} == planted
    assert opened.tally.records == 1_000_000
    single = order.index(1)
    number = next(number for number in range(len(order)) if number * 7 % len(order) == single)
    assert opened.tally.ids[1].first.partition == number % 3
    assert opened.tally.ids[1].first.offset == number // 3
