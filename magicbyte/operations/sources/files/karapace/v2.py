"""Karapace's backups of version 2: a line for each record, with key and value in Base16."""

from __future__ import annotations

import binascii
from collections.abc import Iterator

from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.lines import whole_lines
from magicbyte.operations.sources.files.record_file import RecordFile
from magicbyte.operations.sources.port import RawRecord

#: The first line of such a file.
V2_HEAD = b"/V2\n"


class KarapaceV2(RecordFile):
    """A backup of version 2; a cut within a line is noticed."""

    vendor = "karapace"
    form_notes = (
        "Karapace's backups of version 2 have no checksum: a changed digit or a cut between lines is not noticed",
        "they have neither offsets nor timestamps: records are numbered, and the times of versions are unknown",
        "their keys may have been rewritten, so byte forms of keys cannot be told from them",
    )

    def parsed(self) -> Iterator[RawRecord]:
        """Yield the records, numbered from 0."""
        with self.path.open("rb") as file:
            for number, line in whole_lines(file):
                if number == 1:
                    if line != V2_HEAD.strip():
                        raise Unreadable("line 1 is not /V2")
                    continue
                key, tab, value = line.partition(b"\t")
                if not tab:
                    raise Unreadable(f"line {number} has no tab between key and value")
                yield RawRecord(number - 2, 0, _decoded(key, number), _decoded(value, number))


def _decoded(text: bytes, number: int) -> bytes | None:
    if text == b"null":
        return None
    try:
        return binascii.unhexlify(text)
    except binascii.Error as error:
        raise Unreadable(f"line {number} is no Base16: {error}") from None
