"""Avro object container files, with fastavro: reads and writes records as payloads, and the schema in the header.

Payloads are copied without decoding: a record goes from a topic to a file and back byte for byte if both have the
same schema, whatever unions and logical types it has.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path
from typing import Any, BinaryIO

#: The size of a block in bytes.
_BLOCK_BYTES = 64_000
#: The errors that fastavro raises for broken files.
_BROKEN = (ArithmeticError, EOFError, LookupError, LZMAError, MemoryError, OSError, TypeError, ValueError, zlib.error)


class NoContainer(ValueError):
    """A file that is not an Avro object container file, or is broken."""


def header_schema(file: BinaryIO) -> str:
    """The text of the writer schema in a file's header.

    Raises:
        NoContainer: The file has no such header.
    """
    return str(_blocks(file).metadata["avro.schema"])


def payloads(file: BinaryIO) -> Iterator[bytes]:
    """The records of a file, each in Avro's binary encoding by the writer schema.

    Raises:
        NoContainer: The file is broken, or compressed with a codec whose package is not installed.
    """
    import fastavro  # noqa: PLC0415  # slow to import

    blocks = _blocks(file)
    schema = fastavro.parse_schema(json.loads(blocks.metadata["avro.schema"]))
    count = 0
    try:
        for block in blocks:
            content: io.BytesIO = block.bytes_
            whole = content.getvalue()
            for _ in range(block.num_records):
                start = content.tell()
                fastavro.schemaless_reader(content, schema, None)
                count += 1
                yield whole[start : content.tell()]
    except _BROKEN as error:
        raise NoContainer(f"after record {count}: {error or type(error).__name__}") from error


def _blocks(file: BinaryIO) -> Any:
    import fastavro  # noqa: PLC0415  # as above

    try:
        blocks = fastavro.block_reader(file)
        json.loads(blocks.metadata["avro.schema"])
    except _BROKEN as error:
        raise NoContainer(f"it is no Avro object container file: {error or type(error).__name__}") from error
    return blocks


@dataclass
class _Block:
    """The attributes of a block that fastavro's writer uses."""

    num_records: int
    bytes_: io.BytesIO


class ContainerWriter:
    """Writes a container file from payloads with one schema.

    Raises:
        Ended: The codec's package is not installed.
        OSError: The file cannot be written.
    """

    def __init__(self, path: str, schema: str, codec: str) -> None:
        from fastavro.write import Writer  # noqa: PLC0415  # as above

        from serdes.console.outcome import BAD_DATA, Ended  # noqa: PLC0415  # `magicbyte check` needs none of serdes

        parsed = json.loads(schema)
        try:
            # fastavro looks for the codec's package only when it writes a block, so check it now.
            Writer(io.BytesIO(), parsed, codec).write_block(_Block(0, io.BytesIO()))
        except ValueError as error:
            raise Ended(BAD_DATA, f"--codec {codec}: {error}; `fastavro[codecs]` brings all of them") from error
        self._file = Path(path).open("wb")  # noqa: SIM115  # `close` closes it
        self._writer = Writer(self._file, parsed, codec)
        self._block = _Block(0, io.BytesIO())

    def append(self, payload: bytes) -> None:
        """Append a record."""
        self._block.bytes_.write(payload)
        self._block.num_records += 1
        if self._block.bytes_.tell() >= _BLOCK_BYTES:
            self._flush()

    def close(self) -> None:
        """Write the last block and close the file."""
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        if self._block.num_records:
            self._writer.write_block(self._block)
            self._block = _Block(0, io.BytesIO())
            self._writer.flush()
