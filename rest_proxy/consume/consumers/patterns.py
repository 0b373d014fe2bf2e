"""Topic patterns: translating Java's regular expressions to the POSIX expressions of the client library."""

from __future__ import annotations

import re

from rest_proxy.errors import INVALID_CONSUMER_CONFIG

_CLASSES = {"d": "0-9", "w": "a-zA-Z0-9_", "s": " \\t"}
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?|[*+?}][?+]|.", re.DOTALL)


def to_posix(pattern: str) -> str:
    r"""The POSIX extended expression that fully matches the same topic names.

    Non-capturing groups and reluctant quantifiers become their plain forms, which match the same names; `\d`, `\w` and
    `\s` are spelled out. The client library does the matching, so that no client's pattern can block this process.

    Raises:
        ApiError: INVALID_CONSUMER_CONFIG if the pattern is not a regular expression, or POSIX has no equivalent.
    """
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise INVALID_CONSUMER_CONFIG(detail=f"topic_pattern is no regular expression: {error}") from None
    translated: list[str] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        assert match is not None
        part = match[0]
        position = match.end()
        if part == "(?":
            if not pattern.startswith(":", position):
                raise INVALID_CONSUMER_CONFIG(detail=f"topic_pattern uses (?{pattern[position : position + 1]}")
            position += 1
            part = "("
        elif len(part) == 2 and part[0] in "*+?}":
            if part[1] == "+":
                raise INVALID_CONSUMER_CONFIG(detail="topic_pattern uses a possessive quantifier")
            part = part[0]
        elif part.startswith("["):
            part = re.sub(r"\\([dws])", lambda escape: _CLASSES[escape[1]], part)
            part = re.sub(r"\\(.)", r"\1", part)
        elif part.startswith("\\"):
            part = _escape(part[1])
        translated.append(part)
    return f"^({''.join(translated)})$"


def _escape(letter: str) -> str:
    if letter in _CLASSES:
        return f"[{_CLASSES[letter]}]"
    if letter.lower() in _CLASSES:
        return f"[^{_CLASSES[letter.lower()]}]"
    if letter.isalnum():
        raise INVALID_CONSUMER_CONFIG(detail=f"topic_pattern uses \\{letter}")
    return f"\\{letter}"
