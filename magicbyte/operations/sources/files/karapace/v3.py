"""Karapace's backups of version 3: a folder with a file of metadata, and a file of records in Avro."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO

from fastavro import parse_schema, schemaless_reader

from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.karapace.xxh64 import Xxh64
from magicbyte.operations.sources.files.record_file import RecordFile
from magicbyte.operations.sources.port import Origin, RawRecord

#: The beginning of the file of metadata.
V3_HEAD = b"/V3\n"
_LENGTH = Struct(">I")
#: The most bytes of a record or of the metadata.
_MOST_BYTES = 128 << 20
#: What the metadata calls its checksum. The tool that wrote these files used XXH64, whatever the name says.
_CHECKSUM = "xxhash3_64_be"
#: What fastavro raises for bytes that are no such record.
_FAULTS = (EOFError, ValueError, IndexError, KeyError, TypeError, OverflowError, AttributeError)


def _record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": key, "type": kind} for key, kind in fields.items()]}


# Times and the topic's id are read without their logical types, so that no odd value stops the reading.
_METADATA = parse_schema(
    _record(
        "Metadata",
        version="int",
        tool_name="string",
        tool_version="string",
        started_at="long",
        finished_at="long",
        record_count="int",
        topic_name="string",
        topic_id=["string", "null"],
        partition_count="int",
        replication_factor="int",
        topic_configurations={"type": "map", "values": "string"},
        data_files={
            "type": "array",
            "items": _record(
                "DataFile",
                filename="string",
                partition="long",
                checksum="bytes",
                record_count="long",
                start_offset="long",
                end_offset="long",
            ),
        },
        checksum_algorithm={"type": "enum", "name": "ChecksumAlgorithm", "symbols": ["unknown", _CHECKSUM]},
    )
)
_RECORD = parse_schema(
    _record(
        "Record",
        key=["bytes", "null"],
        value=["bytes", "null"],
        headers={"type": "array", "items": _record("Header", key="bytes", value="bytes")},
        offset="long",
        timestamp="long",
        checksum_checkpoint=["bytes", "null"],
    )
)
#: What stands for the file of records of an empty topic.
_NO_FILE = {"filename": None, "checksum": b"", "record_count": 0, "start_offset": 0, "end_offset": -1}


@dataclass(frozen=True, slots=True)
class Metadata:
    """The file of metadata.

    Attributes:
        tool: The tool that wrote the backup, and its version.
        configs: The topic's settings, with `partitions` and `replication.factor`.
        data_file: The name of the file of records; None for an empty topic.
        checksum: The checksum of the file of records.
        record_count: How many records it has.
        offsets: The offsets of its first and its last record.
    """

    tool: tuple[str, str]
    configs: Mapping[str, str]
    data_file: str | None
    checksum: bytes
    record_count: int
    offsets: tuple[int, int]


def is_v3_folder(path: Path) -> bool:
    """Tell whether a folder has a file of metadata."""
    return any(map(_is_metadata, path.glob("*.metadata")))


def _is_metadata(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(V3_HEAD)) == V3_HEAD
    except OSError:
        return False


class KarapaceV3(RecordFile):
    """A backup of version 3.

    Args:
        path: The folder, or the file of metadata in it.

    Raises:
        Unreadable: The folder has several backups.
    """

    vendor = "karapace"
    form_notes = (
        "the metadata of Karapace's backups has no checksum of its own: a changed setting of the topic is not noticed",
    )

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        files = sorted(filter(_is_metadata, path.glob("*.metadata"))) if path.is_dir() else [path]
        if len(files) != 1:
            names = ", ".join(file.name for file in files) or "none"
            raise Unreadable(f"{path} should have one backup, and has {names}: name the file of metadata")
        self._file = files[0]

    def parsed(self) -> Iterator[RawRecord]:
        """Yield the records, after metadata and checksums have been compared with them."""
        metadata = read_metadata(self._file)
        if metadata.data_file is None:
            return
        path = self._file.parent / metadata.data_file
        if not path.is_file():
            raise Unreadable(f"the file of records {metadata.data_file} is missing")
        with path.open("rb") as file:
            yield from _records(file, metadata)

    def origin(self) -> Origin:
        """The folder, and the tool that wrote the backup; see `RawSource.origin`."""
        vendor, version = self._described().tool
        return Origin(self.name, vendor, version)

    def topic_configs(self) -> Mapping[str, str]:
        """The topic's settings when the backup was made; see `RawSource.topic_configs`."""
        return self._described().configs

    def _described(self) -> Metadata:
        try:
            return read_metadata(self._file)
        except Unreadable as error:
            raise Unreadable(f"{self.path} is not whole, and nothing of it is used: {error}") from None


def read_metadata(path: Path) -> Metadata:
    """Read a file of metadata.

    Raises:
        Unreadable: It is cut, was changed, or describes what this version cannot read.
    """
    with path.open("rb") as file:
        if file.read(len(V3_HEAD)) != V3_HEAD:
            raise Unreadable(f"{path.name} does not begin with /V3")
        content = _sized(file, f"{path.name}")
        if content is None or file.read(1):
            raise Unreadable(f"{path.name} is cut, or has more than the metadata")
    value = _avro(_METADATA, content, path.name)
    files = value["data_files"]
    if value["version"] != 3 or value["partition_count"] != 1 or len(files) > 1:
        raise Unreadable(f"{path.name} is not of version 3, or has several partitions; a registry's topic has one")
    if value["checksum_algorithm"] != _CHECKSUM:
        raise Unreadable(f"{path.name} names an unknown kind of checksum")
    data: dict[str, Any] = files[0] if files else _NO_FILE
    offsets: tuple[int, int] = data["start_offset"], data["end_offset"]
    name, count = data["filename"], data["record_count"]
    if name is not None and (Path(name).name != name or name in (".", "..")):
        raise Unreadable(f"{path.name} names a file of records elsewhere: {name!r}")
    if count != value["record_count"] or count < 0 or offsets[1] - offsets[0] + 1 < count:
        raise Unreadable(f"the counts and offsets in {path.name} do not fit each other")
    configs = {
        **value["topic_configurations"],
        "partitions": str(value["partition_count"]),
        "replication.factor": str(value["replication_factor"]),
    }
    return Metadata((value["tool_name"], value["tool_version"]), configs, name, data["checksum"], count, offsets)


def _records(file: BinaryIO, metadata: Metadata) -> Iterator[RawRecord]:
    checksum = Xxh64()
    checked, last = 0, -1
    for number in range(metadata.record_count):
        what = f"record {number} of {metadata.data_file}"
        content = _sized(file, what)
        if content is None:
            raise Unreadable(f"{metadata.data_file} has {number} records, and should have {metadata.record_count}")
        value = _avro(_RECORD, content, what)
        checkpoint = value["checksum_checkpoint"]
        if checkpoint is not None:
            if checkpoint != checksum.digest():
                raise Unreadable(f"records {checked} to {number} of {metadata.data_file} do not have their checksum")
            checked = number
        checksum.update(_LENGTH.pack(len(content)))
        checksum.update(content)
        offset = value["offset"]
        expected = metadata.offsets[0] if number == 0 else None
        if offset <= last or (expected is not None and offset != expected):
            raise Unreadable(f"{what} has offset {offset}, which does not fit the metadata or the record before it")
        last = offset
        headers = tuple((header["key"].decode(errors="replace"), header["value"]) for header in value["headers"])
        yield RawRecord(offset, value["timestamp"], value["key"], value["value"], headers)
    if file.read(1):
        raise Unreadable(f"{metadata.data_file} has more than its {metadata.record_count} records")
    if metadata.record_count and last != metadata.offsets[1]:
        raise Unreadable(f"the last offset of {metadata.data_file} is {last}, and should be {metadata.offsets[1]}")
    if checksum.digest() != metadata.checksum:
        raise Unreadable(f"{metadata.data_file} does not have its checksum: it was changed after record {checked}")


def _sized(file: BinaryIO, what: str) -> bytes | None:
    """The bytes after their length; None at the end of the file."""
    head = file.read(_LENGTH.size)
    if not head:
        return None
    (size,) = _LENGTH.unpack(head) if len(head) == _LENGTH.size else (-1,)
    if not 0 <= size <= _MOST_BYTES:
        raise Unreadable(f"{what} is cut, or its length was changed")
    content = file.read(size)
    if len(content) != size:
        raise Unreadable(f"{what} is cut, or its length was changed")
    return content


def _avro(schema: Any, content: bytes, what: str) -> dict[str, Any]:
    file = BytesIO(content)
    try:
        value = schemaless_reader(file, schema, None)
    except _FAULTS as error:
        raise Unreadable(f"{what} is no such Avro record: {error}") from None
    if file.read(1) or not isinstance(value, dict):
        raise Unreadable(f"{what} is longer than its Avro record")
    return value
