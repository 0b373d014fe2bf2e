"""The files made from a table of settings: its JSON Schema, for editors, and its reference in Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from magicbyte.kit.environment import variable_of
from magicbyte.kit.settings.section import Section, Setting, section_schema, settings_of, subsections

#: Texts that YAML reads as they are: words, durations, paths of fields. Others are quoted.
_PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off)$)[A-Za-z_][\w.-]*|[0-9]+[A-Za-z]+")


def document_schema(section: type[Section], title: str) -> dict[str, Any]:
    """The JSON Schema of a document."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **section_schema(section)}


def reference(top: type[Section]) -> str:
    """The reference of all settings in Markdown: a table for each section."""
    return "\n".join(_with_title(path, section) for section, path in sections(top).items())


def own_table(section: type[Section], prefix: str = "") -> str:
    """A table of the settings that a section itself adds.

    Args:
        section: The section.
        prefix: The beginning of the names of environment variables, if they are settings too.
    """
    inherited = {row.field for base in section.__bases__ if issubclass(base, Section) for row in settings_of(base)}
    return _table([row for row in settings_of(section) if row.field not in inherited], prefix)


def sections(top: type[Section]) -> Mapping[type[Section], str]:
    """All sections of a document, each with the path of the first setting that has it."""
    paths: dict[type[Section], str] = {}
    waiting: list[tuple[str, type[Section]]] = [("", top)]
    while waiting:
        path, section = waiting.pop(0)
        if section not in paths:
            paths[section] = path
            prefix = f"{path}." if path else ""
            inner = [pair for row in settings_of(section) for pair in subsections(row.kind, prefix + row.name)]
            waiting = inner + waiting
    return paths


def _with_title(path: str, section: type[Section]) -> str:
    title = f"### `{path}`\n\n" if path else ""
    text = (section.__doc__ or "").strip().splitlines()[0]
    return f"{title}{text}\n\n{_table(settings_of(section))}"


def _table(rows: Iterable[Setting], prefix: str = "") -> str:
    lines = ["| Setting | Takes | Default | |", "|---|---|---|---|"]
    for row in rows:
        names = ", ".join(f"`{name}`" for name in row.names)
        if prefix:
            names += f"<br>`{variable_of(prefix, row.name)}`"
        cells = [names, row.kind.words, default_text(row), row.help]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def default_text(row: Setting) -> str:
    """The default of a setting for the reference: its value in YAML, or words."""
    if row.required:
        return "required"
    if row.default_words is not None:
        return row.default_words
    return "" if row.default in (None, (), {}, "") else f"`{yaml_flow(row.kind.written(row.default))}`"


def yaml_flow(value: Any) -> str:
    """A value as YAML in one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{yaml_flow(key)}: {yaml_flow(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(yaml_flow, value))}]"
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else json.dumps(value)
