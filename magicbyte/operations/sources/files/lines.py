"""Lines of a file that ends with a line break, read one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from magicbyte.operations.failures import Unreadable

#: The most bytes of a line. In Karapace's version 2, a byte of a record takes two of them.
MOST_BYTES = 128 << 20


def whole_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers of lines from 1, and the lines without their line breaks.

    Raises:
        Unreadable: The last line has no line break, or a line is longer than what a registry writes.
    """
    number = 0
    while line := file.readline(MOST_BYTES):
        number += 1
        if not line.endswith(b"\n"):
            if len(line) == MOST_BYTES:
                raise Unreadable(f"line {number} is longer than {MOST_BYTES >> 20} MiB")
            raise Unreadable(f"line {number}, the last one, has no line break: the file was cut")
        yield number, line.removesuffix(b"\n").removesuffix(b"\r")
