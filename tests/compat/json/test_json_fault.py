"""The fault of a text that is not JSON, in our words and at our places."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.json.fault import Fault, find_fault

FAULTS = [
    ("", "Expecting value", 0),
    (" \n", "Expecting value", 2),
    ("\ufeff1", "Expecting value", 0),
    ("nul", "Expecting value", 0),
    ("truex", "Extra data", 4),
    ("01", "Extra data", 1),
    ("1 2", "Extra data", 2),
    ("-", "Expecting value", 0),
    (".5", "Expecting value", 0),
    ("1.", "Extra data", 1),
    ("[", "Expecting value", 1),
    ("[1", "Expecting ',' delimiter", 2),
    ("[1,", "Expecting value", 3),
    ("[1 ,  ]", "Expecting value", 6),
    ("[,1]", "Expecting value", 1),
    ("[1 2]", "Expecting ',' delimiter", 3),
    ("[1}", "Expecting ',' delimiter", 2),
    ("[1]]", "Extra data", 3),
    ("{", "Expecting property name enclosed in double quotes", 1),
    ("{a:1}", "Expecting property name enclosed in double quotes", 1),
    ("{,}", "Expecting property name enclosed in double quotes", 1),
    ('{"a"', "Expecting ':' delimiter", 4),
    ('{"a" 1}', "Expecting ':' delimiter", 5),
    ('{"a":', "Expecting value", 5),
    ('{"a":}', "Expecting value", 5),
    ('{"a": 1,}', "Expecting property name enclosed in double quotes", 8),
    ('{"a": 1 "b": 2}', "Expecting ',' delimiter", 8),
    ('{"a": 1]', "Expecting ',' delimiter", 7),
    ('{"a": [1, {"b": 2}, }', "Expecting value", 20),
    ('"abc', "Unterminated string starting at", 0),
    ('["abc\\"]', "Unterminated string starting at", 1),
    ('"\\', "Unterminated string starting at", 0),
    ('"a\nb"', "Invalid control character at", 2),
    ('"a\\x"', "Invalid \\escape", 2),
    ('"\\u12"', "Invalid \\uXXXX escape", 2),
    ('{"\\u00zz": 1}', "Invalid \\uXXXX escape", 3),
]


@pytest.mark.parametrize(("text", "detail", "offset"), FAULTS, ids=range(len(FAULTS)))
def test_the_first_fault(text: str, detail: str, offset: int):
    assert find_fault(text) == Fault(detail, offset)


@pytest.mark.parametrize(
    "text",
    ["1", ' {"a" : [ ] , "b" : { } } ', '[[],{},"",-0.5e+3,null,true,false]', '"\\u00e9\\/\\n"', '{"":{"":[{}]}}'],
)
def test_valid_json_has_no_fault(text: str):
    assert find_fault(text) is None


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@given(st.text(alphabet='{}[]:,"\\/u09*-+.eEIN \nnulltruefasinity'))
@settings(max_examples=1500, deadline=None)
def test_a_text_has_a_fault_if_the_standard_library_refuses_it(text: str):
    fault = find_fault(text)
    assert (fault is None) == is_json(text)
    assert fault is None or 0 <= fault.offset <= len(text)


values = st.recursive(
    st.none() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.slow
@given(values, st.data())
@settings(max_examples=500, deadline=None)
def test_truncated_json_has_a_fault(value: object, data: st.DataObject):
    text = json.dumps(value)
    assert find_fault(text) is None
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    assert (find_fault(cut) is None) == is_json(cut)


@pytest.mark.parametrize(("piece", "times"), [("[", 10**6), ('{"a":', 300_000), ('\\"', 500_000), ("[1,", 300_000)])
@pytest.mark.parametrize("beginning", ["", '"'])
def test_the_time_is_linear(beginning: str, piece: str, times: int):
    started = time.process_time()
    assert find_fault(beginning + piece * times) is not None
    assert time.process_time() - started < 5
