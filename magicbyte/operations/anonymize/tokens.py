"""Stable tokens for names and texts: HMAC-SHA256 under a key, so that only who has the key can find a name's token."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any

#: The fewest bytes of a key; a shorter one could be guessed, and then every name that can be guessed is found.
LEAST_KEY_BYTES = 16
_DIGITS = 16
#: What parts of subjects and of paths are separated by; it stays.
_SEPARATORS = re.compile(r"([./-])")
_DEFAULTS_BELOW = 1000


class Tokens:
    """Tokens under one key: equal texts have equal tokens, whatever they are the name of.

    A token has letters and digits, and its first letter is large if that of the text is, so that it is a name wherever
    the text is one.

    Args:
        key: The key, of at least 16 bytes.

    Raises:
        ValueError: The key is shorter.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) < LEAST_KEY_BYTES:
            raise ValueError(f"the key has {len(key)} bytes, and needs at least {LEAST_KEY_BYTES}")
        self._key = key
        self._known: dict[str, str] = {}

    def of(self, text: str) -> str:
        """The token of a text; that of an empty text is empty."""
        if not text:
            return text
        token = self._known.get(text)
        if token is None:
            token = self._known[text] = ("N" if text[0].isupper() else "n") + self._digest(text)[:_DIGITS]
        return token

    def optional(self, text: str | None) -> str | None:
        """The token of a text; None stays."""
        return None if text is None else self.of(text)

    def dotted(self, name: str) -> str:
        """A name with each of its parts between dots replaced, so that a part means the same in every name."""
        return ".".join(map(self.of, name.split(".")))

    def separated(self, name: str) -> str:
        """A name with each of its parts between dots, hyphens and slashes replaced."""
        return "".join(part if _SEPARATORS.fullmatch(part) else self.of(part) for part in _SEPARATORS.split(name))

    def sized(self, text: str, size: int) -> str:
        """A text of a size that depends on a text."""
        digits = self._digest(text)
        return (digits * (size // len(digits) + 1))[:size]

    def number(self, value: Any) -> int:
        """A small number that depends on a value."""
        return int(self._digest(str(value))[:8], 16) % _DEFAULTS_BELOW

    def value(self, value: Any, *, keep_numbers: bool = False) -> Any:
        """A JSON value with its texts and keys replaced; true, false and null stay.

        Args:
            value: The value.
            keep_numbers: Whether numbers stay, because they restrict data.
        """
        if isinstance(value, str):
            return self.of(value)
        if isinstance(value, dict):
            return {self.of(key): self.value(part, keep_numbers=keep_numbers) for key, part in value.items()}
        if isinstance(value, list):
            return [self.value(part, keep_numbers=keep_numbers) for part in value]
        if value is None or isinstance(value, bool) or keep_numbers:
            return value
        return type(value)(self.number(value))

    def _digest(self, text: str) -> str:
        return hmac.new(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
