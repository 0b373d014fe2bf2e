"""Files of other tools, made by hand from their formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from fastavro import parse_schema, schemaless_writer

from magicbyte.operations.sources.files.karapace.xxh64 import Xxh64
from magicbyte.operations.sources.port import RawRecord

Records = Sequence[RawRecord]


def _text(data: bytes | None) -> str:
    return "null" if data is None else data.decode()


def karapace_v1(path: Path, records: Records) -> Path:
    """A JSON array of pairs of texts."""
    path.write_text(json.dumps([[_text(one.key), _text(one.value)] for one in records]))
    return path


def karapace_v2(path: Path, records: Records) -> Path:
    """A mark, then a line for each record."""

    def part(data: bytes | None) -> str:
        return "null" if data is None else data.hex().upper()

    path.write_text("/V2\n" + "".join(f"{part(one.key)}\t{part(one.value)}\n" for one in records))
    return path


_OPTIONAL = ["bytes", "null"]
_RECORD = parse_schema(
    {
        "type": "record",
        "name": "Record",
        "fields": [
            {"name": "key", "type": _OPTIONAL},
            {"name": "value", "type": _OPTIONAL},
            {
                "name": "headers",
                "type": {
                    "type": "array",
                    "items": {
                        "type": "record",
                        "name": "Header",
                        "fields": [{"name": "key", "type": "bytes"}, {"name": "value", "type": "bytes"}],
                    },
                },
            },
            {"name": "offset", "type": "long"},
            {"name": "timestamp", "type": "long"},
            {"name": "checksum_checkpoint", "type": _OPTIONAL},
        ],
    }
)
_METADATA = parse_schema(
    {
        "type": "record",
        "name": "Metadata",
        "fields": [
            {"name": "version", "type": "int"},
            {"name": "tool_name", "type": "string"},
            {"name": "tool_version", "type": "string"},
            {"name": "started_at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "finished_at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "record_count", "type": "int"},
            {"name": "topic_name", "type": "string"},
            {"name": "topic_id", "type": [{"type": "string", "logicalType": "uuid"}, "null"]},
            {"name": "partition_count", "type": "int"},
            {"name": "replication_factor", "type": "int"},
            {"name": "topic_configurations", "type": {"type": "map", "values": "string"}},
            {
                "name": "data_files",
                "type": {
                    "type": "array",
                    "items": {
                        "type": "record",
                        "name": "DataFile",
                        "fields": [
                            {"name": "filename", "type": "string"},
                            {"name": "partition", "type": "long"},
                            {"name": "checksum", "type": "bytes"},
                            {"name": "record_count", "type": "long"},
                            {"name": "start_offset", "type": "int"},
                            {"name": "end_offset", "type": "int"},
                        ],
                    },
                },
            },
            {
                "name": "checksum_algorithm",
                "type": {"type": "enum", "name": "ChecksumAlgorithm", "symbols": ["unknown", "xxhash3_64_be"]},
            },
        ],
    }
)
DATA = "_schemas:0.data"


def karapace_v3(path: Path, records: Records, every: int = 2, **changed: Any) -> Path:
    """A folder with metadata and records, a checkpoint before each `every`th record; `changed` is in the metadata."""
    path.mkdir()
    checksum, data = Xxh64(), b""
    for number, one in enumerate(records):
        value = {
            "key": one.key,
            "value": one.value,
            "headers": [{"key": key.encode(), "value": part} for key, part in one.headers],
            "offset": one.offset,
            "timestamp": one.timestamp,
            "checksum_checkpoint": checksum.digest() if number and number % every == 0 else None,
        }
        sized = _sized(_RECORD, value)
        checksum.update(sized)
        data += sized
    files = [
        {
            "filename": DATA,
            "partition": 0,
            "checksum": checksum.digest(),
            "record_count": len(records),
            "start_offset": records[0].offset,
            "end_offset": records[-1].offset,
            **changed.pop("data_file", {}),
        }
        for _ in records[:1]
    ]
    if records:
        (path / DATA).write_bytes(data)
    metadata = {
        "version": 3,
        "tool_name": "karapace",
        "tool_version": "4.1.0",
        "started_at": 1,
        "finished_at": 2,
        "record_count": len(records),
        "topic_name": "_schemas",
        "topic_id": None,
        "partition_count": 1,
        "replication_factor": 3,
        "topic_configurations": {"cleanup.policy": "compact"},
        "data_files": files,
        "checksum_algorithm": "xxhash3_64_be",
    }
    (path / "_schemas.metadata").write_bytes(b"/V3\n" + _sized(_METADATA, metadata | changed))
    return path


def _sized(schema: Any, value: Mapping[str, Any]) -> bytes:
    buffer = BytesIO()
    schemaless_writer(buffer, schema, value)
    return len(buffer.getvalue()).to_bytes(4, "big") + buffer.getvalue()


def console(separator: str, *, full: bool = False) -> Callable[[Path, Records], Path]:
    """A writer of console dumps with a separator, which `full` gives times, partitions and offsets, too."""

    def write(path: Path, records: Records) -> Path:
        lines = []
        for one in records:
            parts = [f"CreateTime:{one.timestamp}", "Partition:0", f"Offset:{one.offset}"] if full else []
            lines.append(separator.join([*parts, _text(one.key), _text(one.value)]))
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


def rpk(path: Path, records: Records, *, indent: int | None = 2) -> Path:
    """A JSON object for each record, over several lines."""
    values = []
    for one in records:
        value: dict[str, Any] = {"topic": "_schemas"}
        if one.key is not None:
            value["key"] = one.key.decode()
        if one.value is not None:
            value["value"] = one.value.decode()
        if one.headers:
            value["headers"] = [{"key": key, "value": _text(part)} for key, part in one.headers]
        values.append(value | {"timestamp": one.timestamp, "partition": 0, "offset": one.offset})
    path.write_text("".join(json.dumps(value, indent=indent) + "\n" for value in values))
    return path


def rpk_lines(path: Path, records: Records) -> Path:
    """The same with a line for each record."""
    return rpk(path, records, indent=None)
