"""Texts that match a regular expression of the common kind.

Alternatives, groups, classes, the usual escapes, anchors and quantifiers are supported; any other pattern has no
samples. A sample may fail to match, for example if an anchor is in the middle, so the caller must check it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple

#: How many samples a pattern has, and the longest pattern that is parsed.
_SAMPLES = 24
_LONGEST = 300
#: The deepest nesting of groups, the most repetitions beyond the minimum, and the longest sample.
_DEEPEST = 8
_MOST_REPEATED = 2
_LONGEST_SAMPLE = 400
_QUANTIFIER = re.compile(r"\{(\d{1,3})(?:(,)(\d{0,3}))?\}")
_CLASSES = {"d": "09", "w": "aZ9_", "s": " ", "D": "a-", "W": "- ", "S": "a0"}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
#: Candidates for a negated class.
_OTHERS = "aZ09_- .é"


class _Unsupported(ValueError):
    """The pattern is not supported, or its sample is too long."""


class _Piece(NamedTuple):
    """A repeated choice: of one of several characters, or of one of several sequences of pieces."""

    characters: str
    group: Sequence[Sequence[_Piece]]
    least: int
    most: int


@lru_cache(maxsize=256)
def samples(pattern: str) -> tuple[str, ...]:
    """Texts that a pattern probably matches, the simplest first; none if the pattern is not supported."""
    if len(pattern) > _LONGEST:
        return ()
    try:
        reader = _Reader(pattern)
        alternatives = reader.alternatives(0)
        if reader.at < len(pattern):
            return ()
    except (_Unsupported, IndexError):
        return ()
    texts = (_Writer(seed).text(alternatives) for seed in range(_SAMPLES))
    return tuple(dict.fromkeys(text for text in texts if text is not None))


class _Writer:
    """Writes one sample: seed 0 takes the first choice and the fewest repetitions, any other seed random ones."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed) if seed else None  # noqa: S311 - no secret
        self._parts: list[str] = []
        self._steps_left = _LONGEST_SAMPLE

    def text(self, alternatives: Sequence[Sequence[_Piece]]) -> str | None:
        """The sample; None if it would be too long."""
        try:
            self._write(alternatives)
        except _Unsupported:
            return None
        return "".join(self._parts)

    def _write(self, alternatives: Sequence[Sequence[_Piece]]) -> None:
        for piece in self._random.choice(alternatives) if self._random else alternatives[0]:
            for _ in range(self._random.randint(piece.least, piece.most) if self._random else piece.least):
                self._steps_left -= 1
                if self._steps_left < 0:
                    raise _Unsupported
                if piece.group:
                    self._write(piece.group)
                else:
                    self._parts.append(self._random.choice(piece.characters) if self._random else piece.characters[0])


class _Reader:
    """Parses a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.at = 0

    def alternatives(self, depth: int) -> list[list[_Piece]]:
        """The sequences between the `|` signs."""
        if depth > _DEEPEST:
            raise _Unsupported
        sequences = [self._sequence(depth)]
        while self._take("|"):
            sequences.append(self._sequence(depth))
        return sequences

    def _sequence(self, depth: int) -> list[_Piece]:
        pieces: list[_Piece] = []
        while self.at < len(self._pattern) and self._pattern[self.at] not in "|)":
            sign = self._next()
            if sign in "^$":
                continue
            characters, group = self._atom(sign, depth)
            pieces.append(_Piece(characters, group, *self._times()))
        return pieces

    def _atom(self, sign: str, depth: int) -> tuple[str, Sequence[Sequence[_Piece]]]:
        if sign == "(":
            if self._take("?") and not self._take(":"):
                raise _Unsupported
            group = self.alternatives(depth + 1)
            if not self._take(")"):
                raise _Unsupported
            return "", group
        if sign == "[":
            return self._class(), ()
        if sign == "\\":
            return self._escaped(), ()
        if sign in "*+?{)":
            raise _Unsupported
        return "a0- " if sign == "." else sign, ()

    def _escaped(self) -> str:
        sign = self._next()
        if sign in _CLASSES:
            return _CLASSES[sign]
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        if sign.isalnum():
            raise _Unsupported
        return sign

    def _class(self) -> str:
        is_negated = self._take("^")
        members: list[str] = []
        accepted: list[tuple[str, str]] = []
        while not self._take("]"):
            sign = self._next()
            characters = self._escaped() if sign == "\\" else sign
            if self._pattern[self.at] == "-" and self._pattern[self.at + 1] != "]" and len(characters) == 1:
                self.at += 1
                last = self._next()
                last = self._escaped() if last == "\\" else last
                accepted.append((characters, last))
                members += [characters, last]
            else:
                accepted += [(character, character) for character in characters]
                members += characters
        if is_negated:
            members = [sign for sign in _OTHERS if not any(first <= sign <= last for first, last in accepted)]
        if not members:
            raise _Unsupported
        return "".join(members)

    def _times(self) -> tuple[int, int]:
        least, most = self._quantifier()
        if self._take("?") or self._take("+"):
            pass  # lazy or possessive: this does not change which texts match here
        return least, max(least, min(most, least + _MOST_REPEATED))

    def _quantifier(self) -> tuple[int, int]:
        for sign, times in (("*", (0, 1000)), ("+", (1, 1000)), ("?", (0, 1))):
            if self._take(sign):
                return times
        match = _QUANTIFIER.match(self._pattern, self.at)
        if match is None:
            return 1, 1
        self.at = match.end()
        least = int(match[1])
        return least, least if match[2] is None else int(match[3]) if match[3] else 1000

    def _take(self, sign: str) -> bool:
        if self._pattern.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False

    def _next(self) -> str:
        sign = self._pattern[self.at]
        self.at += 1
        return sign
