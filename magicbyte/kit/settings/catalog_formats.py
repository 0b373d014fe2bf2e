"""A catalog of settings as a page of Markdown, as a file of properties, and as environment variables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping

from magicbyte.kit.environment import variable_of
from magicbyte.kit.settings.catalog import Catalog, Group, Row

_LINK = re.compile(r"\[([^]]+)]\([^)]*\)")
_WIDTH = 118
#: What `magicbyte config explain` and `check` take.
_SERVERS = ("registry", "rest-proxy", "ui")


def markdown(catalog: Catalog) -> str:
    """A page: a table for each group, and the settings that have no effect, are passed on, or are refused."""
    name = catalog.name
    sources = (
        f"`magicbyte config reference {name}` writes this page. A setting is a property in a file (`--config`) or an"
        " environment variable; options override variables, and variables override files."
    )
    if name in _SERVERS:
        sources += (
            f" `magicbyte config explain {name}` shows each value with its source, and `magicbyte config check {name}`"
            " what the server would refuse."
        )
    restart = (
        "The settings are read at the start. `Restart` says *files reloaded* if a setting names files that the running"
        " server reads again when they change; the setting itself still needs a restart."
    )
    parts = [f"# Settings of {catalog.title}\n", f"{sources}\n", f"{restart}\n"]
    parts += [_group(group) for group in catalog.groups if group.rows]
    if catalog.passed_on:
        parts.append(_pairs("Passed on", ("Begins with", "Goes to"), catalog.passed_on))
    idle = catalog.without_effect
    if idle:
        parts.append(_pairs("Without effect", ("Setting", "Why"), idle))
    if catalog.translated:
        parts.append(_pairs("Translated", ("Setting", "Effect"), catalog.translated))
    if catalog.refused:
        text = (
            "The server refuses to start with one of these, unless it is empty, `false`, `none` or `own`; a secret,"
            " unless it is empty."
        )
        parts.append(_pairs("Refused", ("Setting", "Why"), catalog.refused, text))
    return "\n".join(parts)


def _group(group: Group) -> str:
    lines = ["| Setting | Takes | Default | Effect | Since | Restart |", "|---|---|---|---|---|---|"]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in _cells(row, group.prefix)) + " |" for row in group.rows
    ]
    return f"## {group.title}\n\n" + "\n".join(lines) + "\n"


def _cells(row: Row, prefix: str) -> Iterable[str]:
    effect = row.effect
    if row.old_names:
        effect += f" Also read as {', '.join(f'`{name}`' for name in row.old_names)}."
    restart = "files reloaded" if row.is_reloaded else "yes"
    name = f"`{row.name}`<br>`{variable_of(prefix, row.name)}`" if prefix else f"`{row.name}`"
    return name, row.takes, row.default, effect, row.since, restart


def _pairs(title: str, heads: tuple[str, str], pairs: Mapping[str, str], text: str = "") -> str:
    rows = [f"| `{name}` | {value} |" for name, value in pairs.items()]
    before = f"{text}\n\n" if text else ""
    return f"## {title}\n\n{before}| {heads[0]} | {heads[1]} |\n|---|---|\n" + "\n".join(rows) + "\n"


def properties(catalog: Catalog) -> str:
    """A file of properties: each setting with its effect as a comment, and commented out with its default."""
    return _listing(catalog, catalog.groups, lambda _, row: f"#{row.name}={escaped(row.value or '')}")


def environment(catalog: Catalog) -> str:
    """A file of environment variables, in the same form."""
    groups = [group for group in catalog.groups if group.prefix]
    return _listing(catalog, groups, lambda group, row: f"#{variable_of(group.prefix, row.name)}={row.value or ''}")


def _listing(catalog: Catalog, groups: Iterable[Group], line: Callable[[Group, Row], str]) -> str:
    parts = [f"# Settings of {catalog.title.replace('`', '')}. Each line that is commented out has the default.\n"]
    for group in filter(lambda group: group.rows, groups):
        parts.append(f"## {group.title}\n")
        parts += [f"{_comment(row)}{line(group, row)}\n" for row in group.rows]
    return "\n".join(parts)


def _comment(row: Row) -> str:
    effect = _LINK.sub(r"\1", row.effect)
    text = f"{effect} Takes {row.takes}."
    if row.default and row.value is None:
        text += f" Default: {row.default}."
    if row.is_reloaded:
        text += " The running server reads changed files again."
    lines = textwrap.wrap(text.replace("`", ""), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)


def escaped(value: str) -> str:
    """A value as a file of properties has it."""
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f"\\{text}" if text.startswith((" ", "\f")) else text
