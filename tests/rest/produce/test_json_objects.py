"""Streams of JSON: values are found wherever the chunks are cut, and no text keeps the event loop for long."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rest_proxy.produce.json_objects import JsonObjects, MalformedJson

#: Values, and white space between their tokens.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text('"\\{}[],: aä', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('"\\{}a', max_size=3), inner, max_size=4),
    max_leaves=8,
)


def values(text: bytes, *, piece: int) -> list[object]:
    objects = JsonObjects(msgspec.json.decode, 1_000_000)
    decoded: list[object] = []
    for start in range(0, len(text), piece):
        decoded += [item.value for item in objects.feed(text[start : start + piece]) if item is not None]
    return decoded + [item.value for item in objects.finish()]


@given(st.lists(VALUES, max_size=5), st.integers(1, 40), st.integers(0, 2))
def test_values_are_found_wherever_the_chunks_are_cut(sent: list[object], piece: int, indent: int) -> None:
    text = b"\n".join(msgspec.json.format(msgspec.json.encode(value), indent=indent) for value in sent)
    assert values(text, piece=piece) == sent


@given(st.lists(VALUES, min_size=1, max_size=9).map(lambda some: some * 400))
def test_a_value_longer_than_one_scan_is_found(sent: list[object]) -> None:
    text = msgspec.json.format(msgspec.json.encode(sent), indent=1)
    assert values(text + text, piece=len(text) // 3) == [sent, sent]


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"a":['])
def test_a_value_of_brackets_is_refused_at_a_depth_of_1000(opening: bytes) -> None:
    objects = JsonObjects(msgspec.json.decode, 10_000_000)
    list(objects.feed(opening * 400))
    with pytest.raises(MalformedJson, match="JSON is nested too deeply"):
        list(objects.feed(opening * 4000))
    assert objects.unfinished < 10_000


def test_a_long_scan_makes_a_pause_every_1024_bytes() -> None:
    objects = JsonObjects(msgspec.json.decode, 10_000_000)
    text = b'{"a": [' + b"[]," * 20_000
    assert list(objects.feed(text)) == [None] * (len(text) // 1024)
    assert objects.unfinished == len(text)


@pytest.mark.parametrize("size", [*range(1022, 1028), *range(2046, 2052)])
def test_a_value_that_ends_with_its_chunk_is_found(size: int) -> None:
    text = b'["%b"]' % (b"x" * (size - 4))
    assert values(text, piece=size) == [["x" * (size - 4)]]
    # The end of a body ends a number.
    assert values(b"1" * size, piece=size) == [int("1" * size)]


def test_a_chunk_may_be_empty() -> None:
    objects = JsonObjects(msgspec.json.decode, 1000)
    for chunk in (b"", b"12", b"", b"3"):
        assert list(objects.feed(chunk)) == []
    assert [item.value for item in objects.finish()] == [123]


def test_a_value_of_depth_1000_is_passed_to_the_decoder() -> None:
    objects = JsonObjects(len, 10_000)
    assert [item.value for item in objects.feed(b"[" * 1000 + b"]" * 1000) if item is not None] == [2000]
    with pytest.raises(MalformedJson, match="JSON is nested too deeply"):
        list(objects.feed(b"[" * 1001))
