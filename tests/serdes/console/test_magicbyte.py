"""`magicbyte produce` and `magicbyte consume`."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from magicbyte.cli.records import consume

UNION = '{"type":"record","name":"r","fields":[{"name":"u","type":["null","string"],"default":null}]}'
PROTO = 'syntax = "proto3"; message M { string f1 = 1; }'
OBJECT = '{"type":"object","properties":{"f1":{"type":"string"}}}'


@pytest.mark.slow
def test_plain_unions(tools: Any, topic: str):
    sent = tools.magicbyte("produce", topic, "--value-schema", UNION, lines='{"u": "a"}\n{"u": null}\n{}\n')
    assert (sent.code, sent.out, sent.err) == (0, "", "")
    values = ("--until-end", "--output", "values")
    assert tools.magicbyte("consume", topic, *values).out == '{"u":"a"}\n{"u":null}\n{"u":null}\n'
    assert tools.magicbyte("consume", topic, *values, "--avro-json", "tagged").out.startswith('{"u":{"string":"a"}}\n')
    # The subject's latest version, from now on.
    bad = tools.magicbyte("produce", topic, "--on-error", "skip", lines='{"u": 3}\n{"u": "b"}\n')
    assert bad.code == 0
    assert "line 1, column 7: value: $.u: int does not fit one of null, string" in bad.err
    last = tools.magicbyte("consume", topic, "--last", "1")
    record = json.loads(last.out)
    assert record.pop("timestamp") > 1_700_000_000_000
    assert isinstance(record.pop("valueSchemaId"), int)
    assert record == {
        "topic": topic, "partition": 0, "offset": 3, "headers": [], "key": None, "value": {"u": "b"},
    }  # fmt: skip


@pytest.mark.slow
def test_the_id_decides_the_format(tools: Any, topic: str):
    proto, plain = (f"{topic}-{name}" for name in ("proto", "json"))
    for name, schema, line in (
        (proto, PROTO, '{"f1": "a"}'),
        (plain, OBJECT, '{"f1": "a"}'),
    ):
        assert tools.magicbyte("produce", name, "--value-schema", schema, lines=line).code == 0
        shown = tools.magicbyte("consume", name, "--until-end", "--output", "values")
        assert (shown.code, json.loads(shown.out)) == (0, json.loads(line))


def test_produce_reads_the_output_of_consume(tools: Any, topic: str, send: Any):
    schemas = ("--input", "records", "--value-schema", UNION, "--key-schema", '"string"')
    line = (
        '{"key": "k", "value": {"u": "x"}, "headers": [{"name": "h", "value": "1"}, {"name": "b", "base64": "/w=="}],'
        ' "timestamp": %d}\n{"key": null, "value": null}\n'
    )
    an_hour_ago = (int(time.time()) - 3600) * 1000
    assert tools.magicbyte("produce", topic, *schemas, lines=line % an_hour_ago).code == 0
    first = tools.magicbyte("consume", topic, "--until-end")
    copy = f"{topic}-copy"
    assert tools.magicbyte("produce", copy, *schemas, lines=first.out).code == 0
    second = tools.magicbyte("consume", copy, "--until-end")
    assert second.out == first.out.replace(f'"{topic}"', f'"{copy}"')
    record, tombstone = map(json.loads, second.out.splitlines())
    assert (record["key"], record["value"], record["timestamp"]) == ("k", {"u": "x"}, an_hour_ago)
    assert record["headers"] == [{"name": "h", "value": "1"}, {"name": "b", "base64": "/w=="}]
    assert (tombstone["key"], tombstone["value"]) == (None, None)


def test_bad_records(tools: Any, topic: str):
    lines = '{"value": {"u": 1}}\n{"valeu": 1}\n[]\n{"value": {}, "partition": "x"}\n{"value": {}, "headers": [1]}\n'
    done = tools.magicbyte("produce", topic, "--input", "records", "--value-schema", UNION, "--dry-run", lines=lines)
    assert done.code == 1
    told = [line.removeprefix("magicbyte produce: ") for line in done.err.splitlines()]
    assert told[0].startswith("line 1, column 17: value: $.u: int does not fit")
    assert told[1:] == [
        "line 2, column 11: valeu is no member of a record",
        "line 3, column 1: expected an object with key, value and headers",
        "line 4, column 28: partition must be a number that is not negative",
        "line 5, column 1: headers must be an array of objects with name and value",
        "5 of 5 lines are bad",
    ]


@pytest.mark.slow
def test_from_a_time_and_to_a_dead_letter_topic(tools: Any, topic: str, send: Any, stored: Any):
    # Not long ago: the broker deletes what is older than a week.
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    milliseconds = int(start.timestamp()) * 1000
    for second, value in enumerate((b"\x00\x00", b"x", b"y")):
        send(topic, value, timestamp=milliseconds + 1000 * second)
    since = ("--from", str(milliseconds + 1000), "--until-end")
    shown = tools.magicbyte("consume", topic, *since, "--value-format", "string", "--output", "values")
    assert shown.out == '"x"\n"y"\n'
    exact = ("--from", (start + timedelta(seconds=2)).isoformat())
    iso = tools.magicbyte("consume", topic, *exact, "--until-end", "--value-format", "string")
    assert json.loads(iso.out)["value"] == "y"
    later = tools.magicbyte("consume", topic, "--from", "2033-01-01", "--until-end", "--fail-if-empty")
    assert (later.code, later.out) == (4, "")
    refused = tools.magicbyte("consume", topic, *since)
    assert refused.code == 1
    assert f"{topic}-0@1: value: unknown magic byte 120" in refused.err
    kept = tools.magicbyte("consume", topic, *since, "--dlq-topic", f"{topic}-dead")
    assert (kept.code, kept.out) == (0, "")
    assert [letter.value() for letter in stored(f"{topic}-dead")] == [b"x", b"y"]


def test_wrong_calls(tools: Any, topic: str):
    for wrong in ([], [topic, "--last", "1", "--from-beginning"], [topic, "--from", "yesterday"]):
        with pytest.raises(SystemExit) as end:
            consume.main(wrong)
        assert end.value.code == 2
    missing = tools.magicbyte("produce", f"{topic}-none", lines="1\n")
    assert missing.code == 1
    assert "40401" in missing.err
    unreadable = tools.magicbyte("produce", topic, "--value-schema", "@/none", lines="1\n")
    assert unreadable.code == 1
    assert "--value-schema @/none cannot be read" in unreadable.err
