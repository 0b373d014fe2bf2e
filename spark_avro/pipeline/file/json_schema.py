"""The table of settings as a JSON Schema, for editors, and as the reference in the documentation."""

from __future__ import annotations

from typing import Any

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.section import Section, section_schema, settings_of, subsections


def file_schema() -> dict[str, Any]:
    """The JSON Schema of a document of a pipeline file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Magicbyte pipeline",
        **section_schema(Pipeline),
    }


def reference() -> str:
    """The reference of all settings in Markdown: a table for each section."""
    parts = [_table("", Pipeline)]
    done: set[type[Section]] = {Pipeline}
    waiting = [(path, section) for row in settings_of(Pipeline) for path, section in subsections(row.kind, row.name)]
    while waiting:
        path, section = waiting.pop(0)
        if section in done:
            continue
        done.add(section)
        parts.append(_table(path, section))
        inner = [pair for row in settings_of(section) for pair in subsections(row.kind, f"{path}.{row.name}")]
        waiting = inner + waiting
    return "\n".join(parts)


def _table(path: str, section: type[Section]) -> str:
    title = f"### `{path}`\n\n" if path else ""
    text = (section.__doc__ or "").strip().splitlines()[0]
    lines = [f"{title}{text}\n", "| Setting | Takes | Default | |", "|---|---|---|---|"]
    for row in settings_of(section):
        default = "required" if row.required else (f"`{row.default}`" if row.default else "")
        cells = [f"`{row.name}`", row.kind.words, default, row.help]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
