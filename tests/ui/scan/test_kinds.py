"""Bytes that are read as a kind."""

from __future__ import annotations

import pytest

from magicbyte.ui.messages.kinds import KINDS, plain, problem_of, schema_id_of

UUID = "f47ac10b-58cc-4372-a567-0e02b2c3d479"


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        ("int", b"\xff\xff\xff\xfe", "-2"),
        ("int", b"\0\0\0", ValueError("an int has 4 bytes; this has 3")),
        ("long", b"\x7f" + b"\xff" * 7, "9223372036854775807"),
        ("long", b"\0" * 4, ValueError("a long has 8 bytes; this has 4")),
        ("short", b"\x01\x00", "256"),
        ("float", b"\x3f\xc0\0\0", "1.5"),
        ("double", b"\x3f\xf8" + bytes(6), "1.5"),
        ("double", b"\x7f\xf8" + bytes(6), '"nan"'),
        ("uuid", bytes.fromhex(UUID.replace("-", "")), f'"{UUID}"'),
        ("uuid", UUID.upper().encode(), f'"{UUID}"'),
        ("uuid", b"\xff", ValueError("a UUID has 16 bytes, or is written as text; this has 1 bytes")),
        ("text", "é\n".encode(), '"é\\n"'),
        ("text", b"a\xff", ValueError("it is not UTF-8 at byte 1")),
        ("json", b'{"n": 1.10}', '{"n": 1.10}'),
        ("json", b"{", ValueError("it is not JSON: Input data was truncated")),
        ("hex", b"\0\xff", '"00ff"'),
        ("base64", b"\0\xff", '"AP8="'),
    ],
)
def test_read_as(kind: str, data: bytes, text: str | ValueError) -> None:
    if isinstance(text, ValueError):
        with pytest.raises(ValueError) as raised:  # noqa: PT011  the text is compared
            KINDS[kind](data)
        assert str(raised.value) == str(text)
    else:
        assert KINDS[kind](data).decode() == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'  {"a": 1}', b'  {"a": 1}'),
        (b"[1", b'"[1"'),
        (b"7", b'"7"'),
        (b"", b'""'),
        (b"\xff", None),
    ],
)
def test_bytes_without_a_schema(data: bytes, text: bytes | None) -> None:
    assert plain(data) == text


@pytest.mark.parametrize(
    ("kind", "schema_id", "is_kind"),
    [
        ("message", None, True),
        ("long", None, True),
        ("schema:7", 7, True),
        ("schema:2147483647", 2147483647, True),
        ("schema:2147483648", None, False),
        ("schema:", None, False),
        ("schema:-1", None, False),
        ("Long", None, False),
        ("7", None, False),
    ],
)
def test_names_of_kinds(kind: str, schema_id: int | None, *, is_kind: bool) -> None:
    assert schema_id_of(kind) == schema_id
    assert (problem_of(kind) is None) is is_kind
