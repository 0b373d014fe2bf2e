"""Wildcard patterns over the full names of fields, as the keys of `metadata.tags` are.

`?` is one character except the dot, `*` any run without a dot, `**` and `**.*` any run. A backslash quotes a wildcard
or a backslash. All other characters stand for themselves, and a pattern has to match the whole name.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

_QUOTED = frozenset("?*\\")
#: Tokens that are no characters.
_ONE, _RUN, _ANY = "one", "run", "any"


class _Pattern(NamedTuple):
    """A pattern as an automaton: bit i of a mask is the state before token i.

    Attributes:
        prefix: The literal text before the first wildcard.
        suffix: The literal text after the last wildcard.
        is_literal: Whether there is no wildcard.
        by_character: The states in which a character leads to the next state.
        ones: The states before a `?`.
        runs: The states before a `*`, which a character other than the dot keeps.
        anys: The states before a `**`, which each character keeps.
        end: The accepting state.
    """

    prefix: str
    suffix: str
    is_literal: bool
    by_character: dict[str, int]
    ones: int
    runs: int
    anys: int
    end: int


def matches(full_name: str, pattern: str) -> bool:
    """Whether a pattern matches a whole name; the time is linear in the name, for hostile patterns too."""
    automaton = _automaton(pattern)
    if automaton.is_literal:
        return full_name == automaton.prefix
    if len(full_name) < len(automaton.prefix) + len(automaton.suffix):
        return False
    if not (full_name.startswith(automaton.prefix) and full_name.endswith(automaton.suffix)):
        return False
    return _accepts(automaton, full_name)


def is_pattern(text: str) -> bool:
    """Whether a text has wildcards, so that it can match several names."""
    return not _automaton(text).is_literal


def _accepts(automaton: _Pattern, text: str) -> bool:
    by_character, ones, runs, anys = automaton.by_character, automaton.ones, automaton.runs, automaton.anys
    skipped = runs | anys
    states = 1 | (1 & skipped) << 1
    for character in text:
        moving = by_character.get(character, 0)
        staying = anys
        if character != ".":
            moving |= ones
            staying |= runs
        states = (states & moving) << 1 | states & staying
        states |= (states & skipped) << 1
        if not states:
            return False
    return bool(states & automaton.end)


@lru_cache(maxsize=1000)
def _automaton(pattern: str) -> _Pattern:
    tokens = _tokens(pattern)
    wild = [index for index, (_, is_wild) in enumerate(tokens) if is_wild]
    first, last = (wild[0], wild[-1] + 1) if wild else (len(tokens), 0)
    by_character: dict[str, int] = {}
    masks = {_ONE: 0, _RUN: 0, _ANY: 0}
    for index, (token, is_wild) in enumerate(tokens):
        target = masks if is_wild else by_character
        target[token] = target.get(token, 0) | 1 << index
    return _Pattern(
        "".join(token for token, _ in tokens[:first]),
        "".join(token for token, _ in tokens[last:]) if wild else "",
        not wild,
        by_character,
        masks[_ONE],
        masks[_RUN],
        masks[_ANY],
        1 << len(tokens),
    )


def _tokens(pattern: str) -> list[tuple[str, bool]]:
    """The characters and wildcards of a pattern, each with whether it is a wildcard; no two runs follow each other."""
    tokens: list[tuple[str, bool]] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\" and pattern[at + 1 : at + 2] in _QUOTED and at + 1 < len(pattern):
            tokens.append((pattern[at + 1], False))
            at += 2
        elif pattern.startswith("**", at):
            _add_run(tokens, _ANY)
            at += 4 if pattern.startswith(".*", at + 2) else 2
        elif character == "*":
            _add_run(tokens, _RUN)
            at += 1
        else:
            tokens.append((_ONE, True) if character == "?" else (character, False))
            at += 1
    return tokens


def _add_run(tokens: list[tuple[str, bool]], run: str) -> None:
    if tokens and tokens[-1] in ((_RUN, True), (_ANY, True)):
        run = _ANY if _ANY in (run, tokens[-1][0]) else _RUN
        tokens[-1] = (run, True)
    else:
        tokens.append((run, True))
