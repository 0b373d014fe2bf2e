"""Karapace's backups of version 1: a JSON array of pairs of texts."""

from __future__ import annotations

from collections.abc import Iterator

from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.json_stream import JsonStream
from magicbyte.operations.sources.files.record_file import RecordFile
from magicbyte.operations.sources.port import RawRecord


def is_v1(head: bytes) -> bool:
    """Tell whether a file begins as an array of arrays; an array without members could be anything."""
    return head.translate(None, b" \t\r\n").startswith(b"[[")


class KarapaceV1(RecordFile):
    """A backup of version 1; a cut is noticed, because the array then has no end."""

    vendor = "karapace"
    form_notes = (
        "Karapace's backups of version 1 have no checksum: a byte that was changed is not noticed",
        "they have neither offsets nor timestamps: records are numbered, and the times of versions are unknown",
        "their keys may have been rewritten, so byte forms of keys cannot be told from them",
    )

    def parsed(self) -> Iterator[RawRecord]:
        """Yield the records, numbered from 0."""
        with self.path.open("rb") as file:
            stream = JsonStream(file)
            stream.skip("[")
            number = 0
            while stream.peek() != "]":
                if number:
                    stream.skip(",")
                pair = stream.value()
                if not isinstance(pair, list) or len(pair) != 2:
                    raise Unreadable(f"item {number} is no pair of a key and a value")
                yield RawRecord(number, 0, _bytes(pair[0], number), _bytes(pair[1], number))
                number += 1
            stream.skip("]")
            if stream.peek():
                raise Unreadable(f"something follows the array at character {stream.place}")


def _bytes(text: object, number: int) -> bytes | None:
    if text is None or text == "null":
        return None
    if not isinstance(text, str):
        raise Unreadable(f"item {number} has a key or a value that is no text")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Unreadable(f"item {number} has half of a surrogate pair") from None
