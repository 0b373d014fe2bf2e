"""A strict reader of systemd's units, by systemd.syntax(7) and systemd.service(5)."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: What `%` stands for in a unit of our tests: only itself. In percentages, it stands alone.
_SPECIFIERS, _PERCENTAGES = {"%": "%"}, {"CPUQuota"}


def read_unit(text: str) -> Mapping[str, Mapping[str, str]]:
    """The settings of a unit's sections; each line must be a comment, a section, a setting or empty."""
    sections: dict[str, dict[str, str]] = {}
    settings: dict[str, str] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if match := re.fullmatch(r"\[([A-Z][a-z]+)\]", line):
            assert match[1] not in sections
            settings = sections[match[1]] = {}
            continue
        name, equals, value = line.partition("=")
        assert sections
        assert equals
        assert re.fullmatch("[A-Z][A-Za-z]+", name)
        assert name not in settings
        assert not value.endswith("\\")
        settings[name] = value if name in _PERCENTAGES else _expanded(value)
    return sections


def words(value: str) -> list[str]:
    """The words of `ExecStart`, whose specifiers are expanded already; `$` in the first word is not expanded."""
    found: list[str] = []
    position = 0
    while position < len(value):
        if value[position] == " ":
            position += 1
            continue
        word, position = _word(value, position)
        found.append(word)
    first, *others = found
    return [first, *map(_without_variables, others)]


def _word(value: str, position: int) -> tuple[str, int]:
    if value[position] != '"':
        end = value.find(" ", position) % (len(value) + 1)
        word = value[position:end]
        assert not re.search(r"[\"'\\;]", word)
        return word, end
    word = ""
    position += 1
    while value[position] != '"':
        if value[position] == "\\":
            position += 1
            assert value[position] in '"\\'
        word += value[position]
        position += 1
    assert value[position + 1 : position + 2] in ("", " ")
    return word, position + 1


def _expanded(value: str) -> str:
    def replace(match: re.Match[str]) -> str:
        return _SPECIFIERS[match[1]]

    return re.sub("%(.?)", replace, value)


def _without_variables(word: str) -> str:
    assert "$" not in word.replace("$$", "")
    return word.replace("$$", "$")
