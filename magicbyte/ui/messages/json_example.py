"""Example instances of JSON Schemas: the schema's own examples, else values near its bounds and constants."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from compat.json import json_text
from compat.json_schema.schema import parse
from compat.json_schema.witness.candidates import Maker
from compat.schema import Dependencies, InvalidSchema, SchemaText
from magicbyte.ui.messages.request import Target

#: The number of candidates that are put into order.
_ORDERED = 40
_MOST = 250


def candidates(
    schema: SchemaText,
    dependencies: Dependencies,
    request: Target,  # noqa: ARG001  the signature of all types
    unions: str,  # noqa: ARG001  the signature of all types
) -> Iterator[str]:
    """Texts that the schema may accept: its examples and default first, then the fullest of some candidates."""
    try:
        parsed = parse(schema, dependencies, strict=False)
    except InvalidSchema:
        return
    raw = parsed.raw if isinstance(parsed.raw, dict) else {}
    examples = raw.get("examples")
    yield from map(json_text.dumps, examples if isinstance(examples, list) else ())
    if "default" in raw:
        yield json_text.dumps(raw["default"])
    values = map(json_text.dumps, Maker(set()).reaching(parsed.model, (), 0))
    yield from sorted(dict.fromkeys(islice(values, _ORDERED)), key=lambda text: (-text.count(":"), len(text)))
    yield from islice(values, _MOST)
