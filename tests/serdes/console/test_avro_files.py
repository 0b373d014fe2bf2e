"""Avro object container files: produced from, consumed to, and checked."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest
from fastavro.write import Writer

from magicbyte.check.config.config import find_config
from magicbyte.check.project.files import working_files
from serdes.client.clients import RegistryClient

FLIGHT = {
    "type": "record",
    "name": "Flight",
    "fields": [
        {"name": "no", "type": "int"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "x", "type": ["null", "string", {"type": "enum", "name": "E", "symbols": ["A"]}]},
    ],
}
#: The second record's union holds the symbol A and not the text.
PAYLOADS = [b"\x02\x04\x02\x02A", b"\x04\x06\x04\x00"]
DELAYED = {**FLIGHT, "fields": [*FLIGHT["fields"], {"name": "delay", "type": "int", "default": 7}]}


class Block:
    def __init__(self, payloads: list[bytes]) -> None:
        self.num_records = len(payloads)
        self.bytes_ = io.BytesIO(b"".join(payloads))


def container(path: Path, schema: Any, payloads: list[bytes], codec: str = "null") -> str:
    with path.open("wb") as file:
        writer = Writer(file, schema, codec)
        writer.write_block(Block(payloads))
        writer.flush()
    return str(path)


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "snappy", "zstandard", "lz4", "xz"])
def test_from_a_file_to_a_topic_and_back(tools: Any, topic: str, stored: Any, tmp_path: Path, codec: str):
    path = container(tmp_path / "flights.avro", FLIGHT, PAYLOADS)
    sent = tools.magicbyte("produce", topic, "--input", path)
    assert (sent.code, sent.out, sent.err) == (0, "", "")
    with RegistryClient(tools.registry) as client:
        held = client.version(f"{topic}-value")
    assert json.loads(held.schema.text)["name"] == "Flight"
    frame = b"\x00" + held.id.to_bytes(4, "big")
    assert [message.value() for message in stored(topic)] == [frame + payload for payload in PAYLOADS]
    copy = tmp_path / "copy.avro"
    done = tools.magicbyte("consume", topic, "--until-end", "--output-file", str(copy), "--codec", codec)
    if codec in {"snappy", "zstandard", "lz4"} and done.code == 1:
        assert f"--codec {codec}: {codec} codec is supported but you need to install" in done.err
        assert "`fastavro[codecs]`" in done.err
        assert not copy.exists()
        return
    assert (done.code, done.out, done.err) == (0, "", "")
    with copy.open("rb") as file:
        blocks = fastavro.block_reader(file)
        assert blocks.metadata["avro.codec"] == codec
        assert b"".join(block.bytes_.getvalue() for block in blocks) == b"".join(PAYLOADS)


def test_older_records_are_resolved_and_tombstones_counted(tools: Any, topic: str, tmp_path: Path):
    for schema, payload in ((FLIGHT, PAYLOADS[0]), (DELAYED, PAYLOADS[1] + b"\x02")):
        path = container(tmp_path / "f.avro", schema, [payload], "deflate")
        assert tools.magicbyte("produce", topic, "--input", path).code == 0
    lines = '{"key": "k", "value": null}\n'
    assert tools.magicbyte("produce", topic, "--input", "records", lines=lines).code == 0
    copy = tmp_path / "copy.avro"
    done = tools.magicbyte("consume", topic, "--until-end", "--output-file", str(copy))
    assert (done.code, done.err) == (0, f"magicbyte consume: 1 records without a value are not in {copy}\n")
    with copy.open("rb") as file:
        rows = [(row["no"], row["x"], row["delay"]) for row in fastavro.reader(file)]
    assert sorted(rows) == [(1, "A", 7), (2, "A", 1)]


def test_the_schema_is_checked_first(tools: Any, topic: str, stored: Any, tmp_path: Path):
    path = container(tmp_path / "f.avro", FLIGHT, PAYLOADS)
    assert tools.magicbyte("produce", topic, "--input", path).code == 0
    other = {**FLIGHT, "fields": [{"name": "no", "type": "string"}]}
    unlike = container(tmp_path / "g.avro", other, [b"\x02a"])
    for more in ((), ("--dry-run",), ("--value-schema-version", "1")):
        refused = tools.magicbyte("produce", topic, "--input", unlike, *more)
        assert (refused.code, refused.out) == (1, ""), more
        assert "no" in refused.err
    assert len(stored(topic)) == 2
    # Written with a version that reads it.
    wider = container(tmp_path / "h.avro", DELAYED, [PAYLOADS[0] + b"\x02"])
    assert tools.magicbyte("produce", topic, "--input", wider, "--value-schema-version", "1").code == 0
    assert [message.value()[5:] for message in stored(topic)][2:] == [PAYLOADS[0]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"no container", "it is no Avro object container file"), (None, "after record 2: ")],
)
def test_files_that_are_none(tools: Any, topic: str, tmp_path: Path, content: bytes | None, reason: str):
    path = tmp_path / "f.avro"
    container(path, FLIGHT, PAYLOADS)
    path.write_bytes(path.read_bytes() + b"\x02\x02\x00" if content is None else content)
    done = tools.magicbyte("produce", topic, "--input", str(path))
    assert done.code == 1
    assert f"{path}: {reason}" in done.err


def test_the_schemas_in_their_headers_are_checked(tmp_path: Path):
    container(tmp_path / "Flight.avro", FLIGHT, PAYLOADS)
    (tmp_path / "broken.avro").write_bytes(b"no container")
    (tmp_path / "magicbyte.toml").write_text("")
    files, findings = working_files(find_config(tmp_path))
    assert [(file.path, file.subject, json.loads(file.text)["name"]) for file in files] == [
        ("Flight.avro", "Flight", "Flight")
    ]
    assert [(finding.file, finding.rule) for finding in findings] == [("broken.avro", "INVALID_SCHEMA")]
    assert "it is no Avro object container file" in findings[0].message
