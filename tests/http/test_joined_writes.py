"""A response's two writes on the way to the transport."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import pytest

from magicbyte.http.connection.joined_writes import JoinedWrites

HEAD, BODY = b"HTTP/1.1 200 OK\r\n\r\n", b"[]"


class Written(asyncio.Transport):
    """Notes each call, as what it sends in one piece."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[bytes | str] = []
        self.has_joined = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.calls.append(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.calls.append(b"".join(list_of_data))
        self.has_joined = True

    def close(self) -> None:
        self.calls.append("close")

    def abort(self) -> None:
        self.calls.append("abort")

    def is_closing(self) -> bool:
        return "close" in self.calls

    def get_extra_info(self, name: str, default: object = None) -> object:
        return name, default


async def sent_by(*turns: Sequence[bytes | str]) -> list[bytes | str]:
    """The bytes that are sent if each turn of the event loop writes some, or calls a method."""
    transport = Written()
    joined = JoinedWrites(transport, asyncio.get_running_loop())
    for turn in turns:
        for step in turn:
            if isinstance(step, bytes):
                joined.write(step)
            else:
                getattr(joined, step)()
        await asyncio.sleep(0)
    return transport.calls


@pytest.mark.parametrize(
    ("turns", "sent"),
    [
        ([[HEAD, BODY]], [HEAD + BODY]),
        ([[HEAD, b""]], [HEAD]),
        ([[HEAD]], [HEAD]),
        ([[b""]], []),
        ([[HEAD], [BODY]], [HEAD, BODY]),
        ([[HEAD, b"a", b"b"]], [HEAD + b"a", b"b"]),
        ([[HEAD, BODY, HEAD, BODY]], [HEAD + BODY, HEAD + BODY]),
        ([[HEAD, BODY], [HEAD], [BODY]], [HEAD + BODY, HEAD, BODY]),
        ([[HEAD], ["close"]], [HEAD, "close"]),
        ([[HEAD, "close"]], [HEAD, "close"]),
        ([[HEAD, "abort"]], ["abort"]),
    ],
)
def test_joined_writes_send_the_data_of_one_loop_turn_at_once(
    turns: list[list[bytes | str]], sent: list[bytes | str]
) -> None:
    assert asyncio.run(sent_by(*turns)) == sent


@pytest.mark.parametrize("size", [8192, 8193])
def test_joined_writes_send_waiting_parts_at_once_and_copy_few_bytes(size: int) -> None:
    async def sent(*first: bytes) -> list[bytes | str]:
        transport = Written()
        joined = JoinedWrites(transport, asyncio.get_running_loop())
        for data in first:
            joined.write(data)
        joined.send(HEAD, b"x" * (size - len(HEAD) - sum(map(len, first))))
        return [*transport.calls, "joined" if transport.has_joined else "copied"]

    way = "copied" if size == 8192 else "joined"
    assert asyncio.run(sent()) == [HEAD + b"x" * (size - len(HEAD)), way]
    assert asyncio.run(sent(BODY)) == [BODY + HEAD + b"x" * (size - len(HEAD) - len(BODY)), way]


def test_joined_writes_keep_the_data_if_its_buffer_changes() -> None:
    async def sent() -> list[bytes | str]:
        transport = Written()
        buffer = bytearray(HEAD)
        JoinedWrites(transport, asyncio.get_running_loop()).write(buffer)
        buffer[:4] = b"XXXX"
        await asyncio.sleep(0)
        return transport.calls

    assert asyncio.run(sent()) == [HEAD]


def test_joined_writes_pass_calls_on_to_the_transport() -> None:
    async def asked() -> tuple[object, bool, bool]:
        joined = JoinedWrites(Written(), asyncio.get_running_loop())
        before = joined.is_closing()
        joined.close()
        return joined.get_extra_info("socket", 1), before, joined.is_closing()

    assert asyncio.run(asked()) == (("socket", 1), False, True)
