"""Regular expressions of RE2 in Java's form, if they mean the same there and Java needs no backtracking for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spark_avro.plan.rules.cel.untranslatable import Untranslatable

#: The parts of the common part of both languages.
_TOKEN = re.compile(
    r"""
      (?P<group> \( (?: \?: )? )
    | (?P<close> \) )
    | (?P<any> \. )
    | (?P<end> \$ )
    | (?P<start> \^ )
    | (?P<or> \| )
    | (?P<repeat> (?: [*+?] | \{ \d{1,3} (?: ,\d{0,3} )? \} ) \?? )
    | \[ (?P<negated> \^ )? (?P<set> (?: [A-Za-z0-9_@%+.,:;/<>=!#~'" -] | \\[dw.\-\[\]\\^$*+?(){}|/] )+ ) \]
    | \\ (?P<class> [dwDW] )
    | \\ (?P<quoted> [.\-\[\]\\^$*+?(){}|/] )
    | (?P<plain> [^\\\[\](){}*+?|^$.] )
    """,
    re.VERBOSE | re.DOTALL,
)
_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "D": "^0-9", "W": "^0-9A-Za-z_"}
#: The most parts of open length: more of them take Java long for a text that almost matches.
_MOST_OPEN = 3
#: What a repeat cannot follow.
_NOTHING = frozenset({"start", "repeat", "or", "group"})


def java_pattern(pattern: str) -> str:
    """The pattern that finds in Java what RE2 finds with another one.

    Raises:
        Untranslatable: There is none, or it could take Java long.
    """
    tokens = list(_tokens(pattern))
    _check_groups(tokens)
    _check_lengths(tokens)
    java = "".join(_java(token, str(token.lastgroup)) for token in tokens)
    try:
        re.compile(java.replace(r"\z", r"\Z"))
    except re.error as error:
        raise Untranslatable(f"a pattern of matches() that is none: {error}") from None
    return java


def _tokens(pattern: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise Untranslatable("a pattern of matches() that Java may read differently")
        yield token
        at = token.end()


def _check_groups(tokens: Sequence[re.Match[str]]) -> None:
    """Refuse a repeat of nothing, of a repeat, or of a group with repeats or alternatives: Java would backtrack."""
    last = "start"
    #: Whether the open groups hold repeats or alternatives.
    groups: list[bool] = []
    is_complex = False
    for token in tokens:
        kind = str(token.lastgroup)
        if kind == "group":
            groups.append(False)
        elif kind == "close":
            if not groups:
                raise Untranslatable("a pattern of matches() with a parenthesis that closes nothing")
            is_complex = groups.pop()
            groups[-1:] = [groups[-1] or is_complex] if groups else []
        elif kind in {"repeat", "or"}:
            if kind == "repeat" and (last in _NOTHING or (last == "close" and is_complex)):
                raise Untranslatable("a pattern of matches() with nested repeats")
            groups[-1:] = [True] if groups else []
        last = kind
    if groups:
        raise Untranslatable("a pattern of matches() with an open parenthesis")


def _check_lengths(tokens: Sequence[re.Match[str]]) -> None:
    repeats = (token[0].rstrip("?") for token in tokens if token.lastgroup == "repeat")
    if sum(repeat[-1:] in {"*", "+"} or ",}" in repeat for repeat in repeats) > _MOST_OPEN:
        raise Untranslatable("a pattern of matches() that may take Java long")


def _java(token: re.Match[str], kind: str) -> str:
    """A part of a pattern in Java's form: there, `.` and `$` stop at more characters, and sets have operators."""
    match kind:
        case "any":
            return r"[^\n]"
        case "end":
            return r"\z"
        case "class":
            return f"[{_CLASSES[token['class']]}]"
        case "set":
            inner = re.sub(r"\\[dw]", lambda found: _CLASSES[found[0][1]], token["set"])
            return f"[{token['negated'] or ''}{inner}]"
        case "quoted" | "plain":
            character = token[kind]
            return character if character.isalnum() or ord(character) > 127 else f"\\{character}"
    return token[0]
