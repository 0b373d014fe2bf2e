"""Splits a rule's text into its guard and its expression."""

from __future__ import annotations

import re

#: A comment, a literal, or a separator. A literal that is not closed runs to the end of its line, or of the text if its
#: quotes are tripled; the parser reports it with the rest.
_TOKEN = re.compile(
    r"""
      //[^\n]*
    | \b (?: [rR][bB]? | [bB][rR] ) (?P<raw_long> "{3} | '{3} ) .*? (?: (?P=raw_long) | \Z )
    | \b (?: [rR][bB]? | [bB][rR] ) (?P<raw> ["'] ) (?: (?! (?P=raw) ) [^\n\r] )* (?P=raw)?
    | (?P<long> "{3} | '{3} ) (?: \\. | [^\\] )*? (?: (?P=long) | \Z )
    | (?P<short> ["'] ) (?: \\. | (?! (?P=short) ) [^\\\n\r] )* (?P=short)?
    | (?P<separator> ; )
    """,
    re.VERBOSE | re.DOTALL,
)


def split_guard(text: str) -> tuple[str | None, str]:
    """The guard and the expression of a rule's text `guard ; expression`.

    The first `;` outside of literals and comments separates them.

    Args:
        text: The rule's text.

    Returns:
        The guard, or None if there is none or it is blank; and the expression.
    """
    for token in _TOKEN.finditer(text):
        if token["separator"] is not None:
            guard = text[: token.start()]
            return (guard if guard.strip() else None), text[token.end() :]
    return None, text
