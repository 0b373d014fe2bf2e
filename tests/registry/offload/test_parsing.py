"""The memory of parsed schemas."""

from __future__ import annotations

import pytest

from compat.schema import InvalidSchema, SchemaText
from registry.offload.parsing import Parser

FINE = SchemaText("AVRO", '{"type":"fixed","name":"F","size":1}')
#: As stored by servers that did not check names.
OLD = SchemaText("AVRO", '{"type":"fixed","name":"F-1","size":1}')


def test_a_lenient_parse_reuses_the_strict_result() -> None:
    parser = Parser()
    assert parser(FINE, (), strict=False) is not parser(FINE, (), strict=True)
    assert parser(FINE, (), strict=False) is parser(FINE, (), strict=True)


def test_a_strict_parse_may_refuse_a_leniently_parsed_text() -> None:
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
