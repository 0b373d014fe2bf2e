"""`magicbyte config explain`: each value of a server's settings, and where it comes from."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte.cli.config.servers import SERVERS
from magicbyte.cli.servers.command import Layer
from magicbyte.cli.tables import aligned
from magicbyte.kit.inert import inert_lines
from magicbyte.kit.secret import HIDDEN, has_secret, hide_user_info, is_secret
from magicbyte.kit.settings.catalog import Catalog
from magicbyte.kit.settings.place import NOWHERE, Place, nearest, place_of
from serdes.console.outcome import OK

_MASK = "***"
_DEFAULT = "default"
_UNKNOWN = "unknown"
#: Letters and digits without spaces, as in tokens and keys; paths and addresses have `/`, `:` or dots.
_TOKEN = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w+=-]{16,}")


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its source.

    Attributes:
        text: The value as it is written, perhaps with placeholders.
        source: `file`, `environment`, `option` or `default`.
        place: The file and line, the variable or the option; empty for a default.
    """

    text: str
    source: str = _DEFAULT
    place: Place = NOWHERE

    def __str__(self) -> str:
        return str(self.place) or self.source


@dataclass(frozen=True, slots=True)
class Explained:
    """A setting with its value.

    Attributes:
        name: The setting.
        value: The value to show.
        winner: The source of the value.
        overridden: The sources whose values it overrides, the strongest first.
        note: What else is to say, such as that nobody knows the setting.
    """

    name: str
    value: str
    winner: Value
    overridden: tuple[Value, ...] = ()
    note: str = ""


def explain(options: argparse.Namespace) -> int:
    """Print all settings of a server; returns the exit code."""
    server = SERVERS[options.server]
    explained = list(explanation(server.all_settings(), server.layers(options)))
    if options.output == "json":
        result = {"server": server.name, "settings": [_as_json(row) for row in explained]}
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
        return OK
    rows = [("setting", "value", "source", "note"), *map(_cells, explained)]
    sys.stdout.writelines(f"{inert_lines(line)}\n" for line in aligned(rows))
    return OK


def explanation(catalog: Catalog, layers: Sequence[Layer]) -> Iterator[Explained]:
    """All settings of a catalog, and then the given ones that are not in it.

    Args:
        catalog: The settings.
        layers: The sources, those that override others last.
    """
    given = _values_by_name(layers)
    old_names, rows = catalog.old_names, catalog.rows
    for name, row in rows.items():
        values = given.pop(name, [])
        # A value under the present name wins, wherever the one under an old name is.
        for old in row.old_names:
            values += given.get(old, [])
        winner, *overridden = values or [Value(row.value if row.value is not None else row.default.replace("`", ""))]
        text = shown(winner.text, secret=row.is_secret and winner.source != _DEFAULT)
        yield Explained(name, text, winner, tuple(overridden))
    for name, (winner, *overridden) in given.items():
        note = f"old name of {old_names[name]}" if name in old_names else _note(catalog, name)
        is_known = name in old_names or not note.startswith(_UNKNOWN)
        secret = is_secret(name) or _nearest_is_secret(catalog, name) or (not is_known and _may_be_token(winner.text))
        yield Explained(name, shown(winner.text, secret=secret), winner, tuple(overridden), note)


def _values_by_name(layers: Sequence[Layer]) -> dict[str, list[Value]]:
    """The values of each setting that is given, the one that counts first."""
    given: dict[str, list[Value]] = {}
    for layer in layers:
        for name, text in layer.properties.items():
            place = Place(layer.options[name]) if name in layer.options else place_of(text)
            given.setdefault(name, []).insert(0, Value(text, layer.source, place))
    return given


def _note(catalog: Catalog, name: str) -> str:
    if name in catalog.without_effect:
        return f"without effect: {catalog.without_effect[name]}"
    if name in catalog.refused:
        return f"refused unless it is off: {catalog.refused[name]}"
    if name in catalog.translated:
        return f"translated: {catalog.translated[name]}"
    taker = next((taker for prefix, taker in catalog.passed_on.items() if name.startswith(prefix)), None)
    return f"{_UNKNOWN}{nearest(name, catalog.rows)}" if taker is None else f"passed on to {taker}"


def _nearest_is_secret(catalog: Catalog, name: str) -> bool:
    """Whether an unknown setting seems to be a mistyped secret."""
    meant = nearest(name, catalog.rows).removeprefix("; did you mean ").removesuffix("?")
    return meant in catalog.rows and catalog.rows[meant].is_secret


def _may_be_token(text: str) -> bool:
    """Whether the value of an unknown setting may be a token or a key, which must not be shown."""
    return _TOKEN.fullmatch(text) is not None


def shown(text: str, *, secret: bool) -> str:
    """A value without secrets; a placeholder is shown as it is written."""
    if not text or (text.startswith("${") and text.endswith("}") and text.count("$") == 1 and ":-" not in text):
        return text
    if secret:
        return _MASK
    hidden = hide_user_info(text)
    return hidden.replace(HIDDEN, _MASK) if hidden != text else _MASK if has_secret(text) else text


def _cells(row: Explained) -> tuple[str, str, str, str]:
    source = str(row.winner)
    if row.overridden:
        source += f", overrides {', '.join(map(str, row.overridden))}"
    return row.name, row.value, source, row.note


def _as_json(row: Explained) -> dict[str, Any]:
    place = row.winner.place
    return {
        "name": row.name,
        "value": row.value,
        "source": row.winner.source,
        **({"place": place.file, **({"line": place.line} if place.line else {})} if place.file else {}),
        **({"overrides": [str(value) for value in row.overridden]} if row.overridden else {}),
        **({"note": row.note} if row.note else {}),
    }
