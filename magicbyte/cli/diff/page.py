"""Differences as one HTML file that needs nothing else: no script, no other file, and all names are escaped."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import orjson

from magicbyte.cli.diff.outputs import summary
from magicbyte.cli.diff.result import Result
from magicbyte.kit.inert import escape_controls
from magicbyte.kit.plural import plural
from magicbyte.operations.comparison.difference import Difference

_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Differences between two registries</title>
<style>
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8885 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .25rem 0; max-height: 24rem; overflow: auto }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem }
summary { cursor: pointer; overflow-wrap: anywhere }
code { overflow-wrap: anywhere }
</style>
<h1>Differences between two registries</h1>
"""


def page(result: Result) -> Iterator[str]:
    """Yield the parts of the file: both sides, the counts, and the differences by kind, the worst first."""
    yield _HEAD
    yield f"<p><strong>{_escaped(summary(result))}</strong></p>\n<table>\n"
    for side, reading, count in result.sides():
        notes = "".join(f"<br>{_escaped(note)}" for note in reading.remarks)
        name = f"<code>{_escaped(reading.origin.name)}</code>{notes}"
        yield f"<tr><th>{side}</th><td>{name}</td><td>{plural(count, 'version')}</td></tr>\n"
    yield "</table>\n"
    for kind, differences, count in result.by_kind():
        yield f"<h2>{kind.code} ({count:,})</h2>\n<p>{_escaped(kind.meaning)}</p>\n"
        yield from map(_difference, differences)
        if count > len(differences):
            yield f"<p>And {count - len(differences):,} more; <code>--format json</code> lists all.</p>\n"
    yield "</html>\n"


def _difference(difference: Difference) -> str:
    sides = "".join(
        f"<div>{side}<pre>{_value(value)}</pre></div>"
        for side, value in (("left", difference.left), ("right", difference.right))
    )
    sentence = _escaped(difference.sentence)
    return f'<details><summary>{sentence}</summary><div class="sides">{sides}</div></details>\n'


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return "\n".join(map(_escaped, text.split("\n")))


def _escaped(text: str) -> str:
    return html.escape(escape_controls(text))
