"""JSON as schema texts use it."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.json.json_text import MAX_DEPTH, InvalidJson, dumps, loads, locate
from compat.json.numbers import double_text
from compat.schema import Position

PRINTED_AS_JACKSON = [
    ("0", "0"),
    ("-0", "0"),
    ("-0.0", "-0.0"),
    ("1.0", "1.0"),
    ("1e10", "1.0E10"),
    ("1.5e-7", "1.5E-7"),
    ("0.001", "0.001"),
    ("0.0009", "9.0E-4"),
    ("9999999.0", "9999999.0"),
    ("10000000.0", "1.0E7"),
    ("123456789.125", "1.23456789125E8"),
    ("1e300", "1.0E300"),
    ("5e-324", "4.9E-324"),
    ("1.7976931348623157e308", "1.7976931348623157E308"),
    ("18446744073709551616", "18446744073709551616"),
    ("-123456789012345678901234567890", "-123456789012345678901234567890"),
    (' { "b" : [ 1 , true , null ] , "a" : { } , "c" : [ ] } ', '{"b":[1,true,null],"a":{},"c":[]}'),
    ('"gr\\u00fc\\u00df \\ud83d\\ude00 \\/"', '"grüß 😀 /"'),
    ('"\\u0001\\u001f\\b\\f\\n\\r\\t\\"\\\\u001f\\u007f"', '"\\u0001\\u001F\\b\\f\\n\\r\\t\\"\\\\u001f\x7f"'),
    ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
]


@pytest.mark.parametrize(("text", "printed"), PRINTED_AS_JACKSON)
def test_prints_as_jackson(text: str, printed: str):
    assert dumps(loads(text)) == printed


def test_sorts_keys_as_java_sorts_strings():
    text = '{"b":1,"\uffff":2,"\U0001f600":3,"a":{"d":1,"c":[{"z":1,"y":2}]}}'
    assert dumps(loads(text), sort_keys=True) == '{"a":{"c":[{"y":2,"z":1}],"d":1},"b":1,"\U0001f600":3,"\uffff":2}'


REFUSED = [
    ("", "Expecting value", Position(1, 1)),
    ("  \n", "Expecting value", Position(2, 1)),
    ('{"a": 1,}', "Expecting property name enclosed in double quotes", Position(1, 9)),
    ('{"a": 1,\n  b: 2}', "Expecting property name enclosed in double quotes", Position(2, 3)),
    ("[1] [2]", "Extra data", Position(1, 5)),
    ("[1, 01]", "Expecting ',' delimiter", Position(1, 6)),
    ("'a'", "Expecting value", Position(1, 1)),
    ('["NaN", NaN]', "NaN is not JSON", Position(1, 9)),
    ("[\n-Infinity]", "-Infinity is not JSON", Position(2, 1)),
    ("[1, 1e999]", "A number is too large for a double", Position(1, 5)),
    ("1" * 1001, "A number is longer than 1000 characters", Position(1, 1)),
    ("[0." + "1" * 1200 + "]", "A number is longer than 1000 characters", Position(1, 2)),
    ('"a\nb"', "Invalid control character at", Position(1, 3)),
    ('"\ud800"', "Half of a surrogate pair is not a character", Position(1, 2)),
    ('"\\ud800"', "An escape stands for half of a surrogate pair, which is not a character", None),
    ("\ufeff{}", "Expecting value", Position(1, 1)),
    ("// a comment\n1", "Expecting value", Position(1, 1)),
    ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "Nested deeper than 200 levels", Position(1, 201)),
    ("[" * 500_000, "Nested deeper than 200 levels", Position(1, 201)),
    ('{"a":' * 500_000, "Nested deeper than 200 levels", Position(1, 1001)),
]


@pytest.mark.parametrize(("text", "detail", "position"), REFUSED, ids=range(len(REFUSED)))
def test_refuses_with_a_position(text: str, detail: str, position: Position | None):
    with pytest.raises(InvalidJson) as refused:
        loads(text)
    assert (refused.value.detail, refused.value.position) == (detail, position)


def test_the_reader_accepts_the_deepest_allowed_nesting():
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert dumps(loads(text)) == text


def test_digits_of_any_length_may_stand_in_a_string():
    assert loads('["' + "1" * 1001 + '"]') == ["1" * 1001]


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][-+]?[0-9]{1,3})?", fullmatch=True))
def test_reads_numbers_as_python_does(text: str):
    value = json.loads(text)
    if not math.isinf(value):
        assert repr(loads(text)) == repr(value)


def test_many_shallow_brackets_are_not_deep():
    text = "[" + ",".join(["[]"] * 1000) + "]"
    assert dumps(loads(text)) == text


COMMENTED = '// a\n{ /* b\n */ "a": "/* kept */ // kept", // c\n "b": [1 /**/, 2] }'


def test_the_reader_accepts_comments_on_request():
    assert loads(COMMENTED, comments=True) == {"a": "/* kept */ // kept", "b": [1, 2]}


@pytest.mark.parametrize("text", ["1 /* open", "1 /*/", '"open /* */', "/ 1"])
def test_refuses_unfinished_comments(text: str):
    with pytest.raises(InvalidJson):
        loads(text, comments=True)


def test_an_unfinished_string_of_escapes_is_refused_in_linear_time():
    with pytest.raises(InvalidJson):
        loads('"' + '\\"' * 1_000_000, comments=True)


NESTED = """{
  "type": "record",
  "fields": [
    {"name": "a", "x,]}": [1, {"y": "z"}]},
    {"name": "b", "na\\u006de": "c"}
  ],
  "type": {"k": 1}
}"""


@pytest.mark.parametrize(
    ("pointer", "position"),
    [
        ((), Position(1, 1)),
        (("fields",), Position(3, 3)),
        (("fields", 0), Position(4, 5)),
        (("fields", 0, "x,]}", 1, "y"), Position(4, 32)),
        (("fields", 0, "x,]}", 0), Position(4, 28)),
        (("fields", 1, "name"), Position(5, 19)),
        (("type", "k"), Position(7, 12)),
        (("fields", 2), None),
        (("fields", "0"), None),
        (("fields", 0, "name", "a"), None),
        (("absent",), None),
    ],
)
def test_locates(pointer: tuple[str | int, ...], position: Position | None):
    assert locate(NESTED, pointer) == position


def test_locates_behind_comments():
    assert locate(COMMENTED, ("b", 1)) == Position(4, 16)


def test_the_locator_finds_no_place_in_invalid_json():
    assert locate("", ()) is None
    assert locate('{"a', ("a",)) is None
    assert locate("[", (0,)) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values)
@settings(max_examples=300, deadline=None)
def test_the_reader_reads_printed_json_back(value: object):
    assert loads(dumps(value)) == value
    assert loads(json.dumps(value)) == value
    assert loads(dumps(value, sort_keys=True)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=500, deadline=None)
def test_doubles_are_printed_without_loss(value: float):
    assert math.copysign(1, float(double_text(value))) == math.copysign(1, value)
    assert float(double_text(value)) == value


@given(values, st.data())
@settings(max_examples=200, deadline=None)
def test_the_locator_points_to_the_key_of_every_member(value: object, data: st.DataObject):
    text = json.dumps(value, indent=data.draw(st.sampled_from([None, 1])))
    pointer: list[str | int] = []
    while isinstance(value, dict | list) and value:
        step = data.draw(st.sampled_from(list(value) if isinstance(value, dict) else list(range(len(value)))))
        pointer.append(step)
        value = value[step]
        place = locate(text, tuple(pointer))
        assert place is not None
        rest = text.split("\n")[place.line - 1][place.column - 1 :]
        expected = json.dumps(step) if isinstance(step, str) else json.dumps(value, indent=1).split("\n")[0][:1]
        assert rest.startswith(expected)


@given(st.text(alphabet='{}[]:,"\\/*-+.eE01 \nnulltruefase'))
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_refused_as_the_standard_library_does(text: str):
    try:
        expected = json.loads(text, parse_constant=pytest.fail)
    except ValueError:
        with pytest.raises(InvalidJson):
            loads(text)
    else:
        assert loads(text) == expected
