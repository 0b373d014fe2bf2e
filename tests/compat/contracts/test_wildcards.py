"""Patterns of metadata.tags over full names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.contracts.model import Metadata
from compat.contracts.tags import TagPatterns, inline_tags
from compat.contracts.wildcards import is_pattern, matches

CASES = [
    ("shop.Order.id", "shop.Order.id", True),
    ("shop.Order.id", "shop.Order", False),
    ("shop.Order.id", "shop.?rder.id", True),
    ("shop.Order.id", "shop?Order.id", False),
    ("shop.Order.id", "shop.*.id", True),
    ("shop.eu.Order.id", "shop.*.id", False),
    ("shop.eu.Order.id", "shop.**.id", True),
    ("shop.Order.id", "**.id", True),
    ("id", "**.id", False),
    ("id", "**id", True),
    ("shop.Order", "shop.**.*", True),
    ("shop.a.b", "shop.**.*b", True),
    ("shop.", "shop.*", True),
    ("shop.a", "shop.*", True),
    ("", "**", True),
    ("", "*", True),
    ("", "?", False),
    ("a*b", r"a\*b", True),
    ("axb", r"a\*b", False),
    ("a?b", r"a\?b", True),
    ("a\\b", r"a\\b", True),
    ("a.b", r"a\.b", False),
    ("aXb", "a[X]b", False),
    ("a[X]b", "a[X]b", True),
    ("a(b|c)+$", "a(b|c)+$", True),
    ("aa", "a+", False),
    ("a\nb", "a*b", True),
    ("$.home.street", "$.**.street", True),
    ("x***y", "x***y", True),
    ("x.y", "x***y", True),
]


@pytest.mark.parametrize(("name", "pattern", "expected"), CASES)
def test_a_pattern_matches_the_whole_name(name: str, pattern: str, expected: bool) -> None:
    assert matches(name, pattern) is expected


def test_a_hostile_pattern_takes_linear_time() -> None:
    assert not matches("a" * 5_000, "**a" * 200 + "b")
    assert matches("a" * 5_000 + "b", "*a" * 200 + "*b")


_PARTS = {"?": "[^.]", "*": "[^.]*", "**": ".*", "**.*": ".*"}


@given(st.lists(st.sampled_from(["a", "b", ".", *_PARTS]), max_size=7), st.text("ab.", max_size=9))
def test_a_wildcard_becomes_its_regular_expression(parts: list[str], name: str) -> None:
    pattern = "".join(parts)
    tokens = re.findall(r"\*\*(?:\.\*)?|\*|\?|.", pattern)
    expression = "".join(_PARTS.get(token, re.escape(token)) for token in tokens)
    assert matches(name, pattern) == bool(re.fullmatch(expression, name))


def test_a_text_with_a_wildcard_is_a_pattern() -> None:
    assert [is_pattern(text) for text in ("a.b", "a.*", "a?", r"a\*", "**")] == [False, True, True, False, True]


def test_a_field_has_the_tags_of_all_matching_patterns() -> None:
    patterns = TagPatterns(Metadata({"a.b": ("X",), "**.b": ("Y", "Z"), "a.*": ("X", "V"), "c": ("W",)}))
    assert patterns.of("a.b") == {"X", "Y", "Z", "V"}
    assert patterns.of("d") == frozenset()
    assert not TagPatterns(None)


@pytest.mark.parametrize(
    ("properties", "tags"),
    [
        ({"confluent:tags": ["A", "B"]}, {"A", "B"}),
        ({"confluent:tags": ["A", 1, None]}, {"A"}),
        ({"confluent:tags": "A"}, set()),
        ({}, set()),
        (True, set()),
    ],
)
def test_inline_tags_are_a_list_of_texts(properties: object, tags: set[str]) -> None:
    assert inline_tags(properties) == tags
