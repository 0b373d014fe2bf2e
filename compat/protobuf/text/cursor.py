"""A position in a list of tokens, with the reading that the parsers of statements and of values share."""

from __future__ import annotations

from typing import NoReturn

from compat.protobuf.text.lexer import syntax_error, tokenize, unquote

#: The longest names. Full names are stored for all declarations, so these limits bound the memory for a text.
MAX_NAME = 255
MAX_DOTTED_NAME = 1000
_MAX_INTEGER = 2**64 - 1


class Cursor:
    """The tokens of a text, and the index of the next token.

    The methods that read raise InvalidSchema, with the position, if the next token is not what they expect.
    """

    __slots__ = ("depth", "i", "text", "tokens")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.i = 0
        #: How many messages or values enclose the next token.
        self.depth = 0

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise a syntax error at a token, by default the next one."""
        raise syntax_error(self.text, self.i if at is None else at, message)

    def expected(self, noun: str) -> NoReturn:
        """Raise an error that names what was expected and the next token."""
        lexeme = self.tokens[self.i]
        if lexeme.startswith("/*"):
            self.fail("the comment is never closed, or another one begins inside of it")
        actual = f"found {_shorten(lexeme)}" if lexeme else "the text ends"
        self.fail(f"expected {noun}, but {actual}")

    def expect(self, symbol: str) -> None:
        """Read this symbol."""
        if self.tokens[self.i] != symbol:
            self.expected(f'"{symbol}"')
        self.i += 1

    def take(self, symbol: str) -> bool:
        """Read this symbol if it is next; return whether it was."""
        if self.tokens[self.i] == symbol:
            self.i += 1
            return True
        return False

    def name(self, noun: str) -> str:
        """Read an identifier without dots."""
        lexeme = self.tokens[self.i]
        if not lexeme.isidentifier():
            self.expected(noun)
        if len(lexeme) > MAX_NAME:
            self.fail(f"a name is longer than {MAX_NAME} characters")
        self.i += 1
        return lexeme

    def dotted(self, noun: str) -> str:
        """Read a name of parts joined by dots; white space around dots and a leading dot are allowed."""
        lexeme = self.tokens[self.i]
        first = lexeme[1:2] if lexeme[:1] == "." else lexeme[:1]
        if lexeme == "." and self.tokens[self.i + 1][:1] != ".":
            self.i += 1
            return "." + self.dotted(noun)
        if not first.isidentifier():
            self.expected(noun)
        self.i += 1
        name = lexeme
        while True:
            if len(name) > MAX_DOTTED_NAME:
                self.fail(f"a name is longer than {MAX_DOTTED_NAME} characters")
            lexeme = self.tokens[self.i]
            if lexeme == ".":
                self.i += 1
                part = self.tokens[self.i]
                if not part[:1].isidentifier():
                    self.expected("a name after the dot")
                name += "." + part
            elif lexeme[:1] == "." and lexeme[1:2].isidentifier():
                name += lexeme
            else:
                return name
            self.i += 1

    def integer(self, noun: str) -> int:
        """Read an unsigned integer: decimal, hexadecimal or octal."""
        lexeme = self.tokens[self.i]
        value = parse_integer(lexeme)
        if value is None:
            self.expected(noun)
        self.i += 1
        return value

    def string(self, noun: str) -> bytes:
        """Read a string literal: one quoted part, or several in a row."""
        parts = []
        while self.tokens[self.i][:1] in {'"', "'"}:
            value = unquote(self.tokens[self.i])
            if value is None:
                self.fail(f"the string {_shorten(self.tokens[self.i])} is not closed or has a wrong escape")
            parts.append(value)
            self.i += 1
        if not parts:
            self.expected(noun)
        return b"".join(parts)

    def text_string(self, noun: str) -> str:
        """Read a string literal that must be valid UTF-8."""
        at = self.i
        try:
            return self.string(noun).decode()
        except UnicodeDecodeError:
            self.fail(f"{noun} is not valid UTF-8", at)


def parse_integer(lexeme: str) -> int | None:
    """The value of a decimal, hexadecimal or octal literal of at most 64 bits; None for any other text."""
    try:
        if lexeme.isdecimal():
            value = int(lexeme, 8) if lexeme[0] == "0" else int(lexeme[:21])
        elif lexeme[:2] in {"0x", "0X"} and "_" not in lexeme:
            value = int(lexeme, 16)
        else:
            return None
    except ValueError:
        return None
    return value if value <= _MAX_INTEGER else None


def _shorten(lexeme: str) -> str:
    return repr(lexeme) if len(lexeme) <= 40 else repr(lexeme[:40]) + "..."
