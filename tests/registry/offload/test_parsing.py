"""The memory of parsed schemas."""

from __future__ import annotations

import pytest

from compat.schema import InvalidSchema, SchemaText
from registry.offload.parsing import Parser

FINE = SchemaText("AVRO", '{"type":"fixed","name":"F","size":1}')
#: As stored by servers that did not check names.
OLD = SchemaText("AVRO", '{"type":"fixed","name":"F-1","size":1}')


def test_what_was_parsed_strictly_is_not_parsed_again_leniently() -> None:
    parser = Parser()
    assert parser(FINE, (), strict=False) is not parser(FINE, (), strict=True)
    assert parser(FINE, (), strict=False) is parser(FINE, (), strict=True)


def test_what_was_parsed_leniently_may_still_be_refused() -> None:
    parser = Parser()
    assert parser(OLD, (), strict=False).canonical == OLD.text
    with pytest.raises(InvalidSchema, match="Illegal character in: F-1"):
        parser(OLD, (), strict=True)
    assert parser(OLD, (), strict=False).canonical == OLD.text


def test_the_oldest_is_forgotten() -> None:
    parser = Parser(remembered=1)
    first = parser(FINE, (), strict=True)
    parser(OLD, (), strict=False)
    assert parser(FINE, (), strict=True) is not first
