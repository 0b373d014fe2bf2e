"""Regular expressions of RE2 in Java's form, if they mean the same there and Java needs no backtracking for them."""

from __future__ import annotations

import re

from spark_avro.rules.cel.untranslatable import Untranslatable

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


def java_pattern(pattern: str) -> str:
    """The pattern that finds in Java what RE2 finds with another one.

    Raises:
        Untranslatable: There is none, or it could take Java long.
    """
    parts: list[str] = []
    at, last = 0, "start"
    #: Whether the open groups hold repeats or alternatives.
    groups: list[bool] = []
    closed_complex = False
    open_lengths = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise Untranslatable("a pattern of matches() that Java may read differently")
        kind = str(token.lastgroup)
        if kind == "repeat":
            if last in {"repeat", "start", "or", "group"} or (last == "close" and closed_complex):
                raise Untranslatable("a pattern of matches() with nested repeats")
            open_lengths += token[0].rstrip("?")[-1:] in {"*", "+"} or ",}" in token[0]
            if groups:
                groups[-1] = True
        elif kind == "group":
            groups.append(False)
        elif kind == "or" and groups:
            groups[-1] = True
        elif kind == "close":
            if not groups:
                raise Untranslatable("a pattern of matches() with a parenthesis that closes nothing")
            closed_complex = groups.pop()
            if groups and closed_complex:
                groups[-1] = True
        parts.append(_java(token, kind))
        at, last = token.end(), kind
    if groups or open_lengths > _MOST_OPEN:
        raise Untranslatable("a pattern of matches() that may take Java long")
    return "".join(parts)


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
