"""Files of lines whose last one has the number and the SHA-256 of the others; a file that is cut or changed is refused.

The last line is compared as bytes, so there is one way to write it, and its own line break belongs to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files import blocks

#: What the closing line begins with.
CLOSING_HEAD = b'{"kind":"end",'
_READ_BYTES = 1 << 20


def closing_line(count: int, digest: str) -> bytes:
    """The last line of a file: that of an export of the registry.

    Args:
        count: How many lines come before it.
        digest: Their SHA-256, in hexadecimal digits.
    """
    return orjson.dumps({"kind": "end", "lines": count, "sha256": digest}) + b"\n"


def closed_lines(path: Path) -> Generator[bytes]:
    """Yield the lines of a file without the closing one; what was yielded is valid only if the end is reached.

    Raises:
        Unreadable: The file is cut, was changed, or cannot be read; the text names it and says where.
    """
    with _naming(path):
        yield from _checked(path)


def head_of(path: Path, size: int) -> bytes:
    """The first bytes of a file's content, decompressed if we compressed it.

    Raises:
        Unreadable: The file cannot be read, its first block is cut or was changed, or another tool compressed it.
    """
    with _naming(path), path.open("rb") as file:
        head = file.read(size)
        if blocks.is_packed(head):
            file.seek(0)
            return next(blocks.unpacked(file), b"")[:size]
    if blocks.is_foreign(head):
        raise Unreadable(f"{path} was compressed by another tool: decompress it first, with `zstd -d`")
    return head


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except Unreadable as error:
        raise Unreadable(f"{path} is not whole, and nothing of it is used: {error}") from None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None


def _checked(path: Path) -> Iterator[bytes]:
    digest, count = hashlib.sha256(), 0
    closing: bytes | None = None
    for line in lines_of(path):
        if closing is not None:
            raise Unreadable(f"line {count + 2} comes after the closing line, which must be the last")
        if line.startswith(CLOSING_HEAD):
            closing = line
            continue
        count += 1
        digest.update(line)
        yield line
    if closing is None:
        raise Unreadable(f"the closing line is missing: the file was cut after line {count}")
    _check(closing, count, digest.hexdigest())


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file with their line breaks; the last one may lack it.

    Raises:
        Unreadable: A block of a compressed file is cut or was changed.
        OSError: The file cannot be read.
    """
    rest: list[bytes] = []
    for chunk in _chunks(path):
        *whole, last = chunk.split(b"\n")
        for line in whole:
            rest.append(line)
            yield b"".join(rest) + b"\n"
            rest = []
        rest.append(last)
    if last := b"".join(rest):
        yield last


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        head = file.read(_READ_BYTES)
        file.seek(0)
        if blocks.is_packed(head):
            yield from blocks.unpacked(file)
            return
        while chunk := file.read(_READ_BYTES):
            yield chunk


def _check(closing: bytes, count: int, digest: str) -> None:
    if closing == closing_line(count, digest):
        return
    claimed = _object(closing)
    if claimed.get("lines") != count:
        raise Unreadable(f"the closing line counts {claimed.get('lines')} lines, but {count} came before it")
    if claimed.get("sha256") != digest:
        raise Unreadable("the SHA-256 in the closing line is not that of the lines before it: the file was changed")
    raise Unreadable("the closing line is cut or was changed")


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise Unreadable("the closing line is cut or was changed") from None
    return value if isinstance(value, dict) else {}
