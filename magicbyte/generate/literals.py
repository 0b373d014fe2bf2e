"""Python literals of a schema's texts: whatever a text has in it, it stays inside its quotes."""

from __future__ import annotations

import unicodedata

#: The longest part of a text that is written in several.
_PART = 70


def width(text: str) -> int:
    """The columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(sign) for sign in text)


def _columns(sign: str) -> int:
    if unicodedata.category(sign) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(sign) in {"W", "F"} else 1


def text_literal(text: str) -> str:
    """The literal of a text, in the quotes that need fewer escapes."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(_escaped(sign, quote) for sign in text) + quote


def bytes_literal(value: bytes) -> str:
    """The literal of bytes, in the quotes that need fewer escapes."""
    quote = "'" if value.count(b'"') > value.count(b"'") else '"'
    return "b" + quote + "".join(_escaped_byte(byte, quote) for byte in value) + quote


def number_literal(number: float) -> str:
    """The literal of a finite number."""
    return repr(number).replace("e+", "e")


def parts(text: str) -> list[str]:
    """The literals of a long text, one for a line: cut behind a comma if there is one."""
    cut: list[str] = []
    rest = text
    while len(rest) > _PART:
        end = rest.rfind(",", _PART // 2, _PART) + 1 or _PART
        cut.append(rest[:end])
        rest = rest[end:]
    return [text_literal(part) for part in (*cut, rest) if part]


def docstring(text: str, indent: str) -> list[str]:
    """The lines of a docstring with a text, which may be any text."""
    lines = [line.rstrip() for line in text.expandtabs().strip().splitlines()] or [""]
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line]
    lines = [lines[0].lstrip(), *(line[min(margins, default=0) :] for line in lines[1:])]
    # A quote at the end would close the docstring early, and three in a row anywhere.
    quoted = '"""' in text or lines[0].startswith('"') or lines[-1].endswith('"')
    escaped = ["".join(_escaped(sign, '"' if quoted else "") for sign in line) for line in lines]
    if len(escaped) == 1:
        return [f'{indent}"""{escaped[0]}"""']
    body = [f"{indent}{line}" if line else "" for line in escaped[1:]]
    return [f'{indent}"""{escaped[0]}', *body, f'{indent}"""']


_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def _escaped(sign: str, quote: str) -> str:
    if sign in _SHORT:
        return _SHORT[sign]
    if sign == quote:
        return f"\\{sign}"
    # Not printable are also marks that reorder the text around them.
    if sign.isprintable():
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def _escaped_byte(byte: int, quote: str) -> str:
    sign = chr(byte)
    if sign in _SHORT:
        return _SHORT[sign]
    if sign == quote:
        return f"\\{sign}"
    return sign if 32 <= byte < 127 else f"\\x{byte:02x}"
