from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.json_schema.witness.pattern_samples import samples

PATTERNS = [
    "^[a-z]+$",
    "^[A-Z]{2}[0-9]{6}$",
    r"^\d{4}-\d{2}-\d{2}$",
    "^(foo|bar)?baz*$",
    r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$",
    "^#(?:[0-9a-fA-F]{3}){1,2}$",
    "^x-",
    r"^v\d+(\.\d+){0,2}$",
    "^[-_.a-z]*$",
    "a|b|",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_samples_match(pattern: str):
    assert samples(pattern)
    assert [text for text in samples(pattern) if not re.search(pattern, text)] == []


@pytest.mark.parametrize("pattern", ["(?=a)b", "(?<x>a)", r"\p{L}", r"(a)\1", "(", "[", "a{", "*", "x" * 301, "(" * 50])
def test_an_unsupported_pattern_gives_no_samples(pattern: str):
    assert samples(pattern) == ()


def test_nested_repetition_ends():
    assert samples("(" * 7 + "a{999}" + "){999}" * 7) == ()
    assert samples("(" * 7 + "" + "){999}" * 7) == ()


@given(st.text("ab0^$.|()[]{}?*+-\\,12dws", max_size=30))
@settings(max_examples=500, deadline=None)
def test_no_pattern_is_too_much(pattern: str):
    assert all(len(text) <= 400 for text in samples(pattern))
