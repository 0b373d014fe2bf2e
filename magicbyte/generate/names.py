"""Python names of a schema's names: valid, distinct, and none that Python gives a meaning."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterable
from enum import StrEnum

_NOT_IN_NAMES = re.compile(r"\W+")
#: Attributes of a member, and names that the enumeration itself reads.
_OF_MEMBERS = (
    frozenset(name for name in dir(StrEnum) if not name.startswith("__"))
    | frozenset(dir(str))
    | {"mro", "name", "value"}
)


def identifier(name: str) -> str:
    """A Python name for a schema's name; other characters than letters, digits and `_` part its words.

    A keyword gets `_`. A name that begins with two underscores loses them: Python gives those a meaning in classes.
    """
    # Python reads names in this form, so two names that differ only before it are one.
    words = unicodedata.normalize("NFKC", name)
    if not words.isidentifier():
        words = _NOT_IN_NAMES.sub("_", words)
        words = words if name.startswith("_") else words.strip("_")
    if words.startswith("__"):
        words = words.lstrip("_").rstrip("_")
        words = f"{words}_" if words else "_"
    if not words.isidentifier():
        words = f"_{words}"
    if not words.isidentifier():
        # A character counts as part of a word and still stands in no name.
        words = "".join(sign if f"_{sign}".isidentifier() else "_" for sign in words)
    return f"{words}_" if keyword.iskeyword(words) else words


def member(symbol: str) -> str:
    """A Python name for a symbol of an enumeration."""
    name = identifier(symbol)
    if name.startswith("_") and name.endswith("_"):
        name = f"{name.strip('_')}_"
        name = name if name.isidentifier() and not keyword.iskeyword(name) else f"symbol_{name}"
    return f"{name}_" if name in _OF_MEMBERS else name


def class_name(text: str) -> str:
    """A Python name for a class: the words of a text, each with a capital letter; a name stays as it is."""
    if text.isidentifier():
        return identifier(text)
    words = (word for word in re.split(r"[\W_]+", unicodedata.normalize("NFKC", text)) if word)
    return identifier("".join(word[:1].upper() + word[1:] for word in words) or "Record")


def distinct(names: Iterable[str], python: Callable[[str], str] = identifier) -> dict[str, str]:
    """A Python name of its own for each of the names; those that need no change come first, others get `_`."""
    made: dict[str, str] = {}
    used: set[str] = set()
    in_order = list(dict.fromkeys(names))
    for name in sorted(in_order, key=lambda name: python(name) != name):
        own = python(name)
        while own in used:
            own += "_"
        used.add(own)
        made[name] = own
    return {name: made[name] for name in in_order}
