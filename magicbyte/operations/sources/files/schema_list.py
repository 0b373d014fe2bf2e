"""AxonOps' bulk imports: one JSON object with all schemas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from magicbyte.kit.failure import Failure
from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.port import Origin, Reading
from magicbyte.operations.state import ContextState, State
from registry.state.json_text import load_json
from registry.state.model import DEFAULT_CONTEXT, context_of

_HEAD = re.compile(rb'\s*\{\s*"schemas"\s*:\s*\[')
_NOTES = (
    "AxonOps' imports have neither configs nor modes, and no times: those of the source are not in the file",
    "they have no checksum: changed text is not noticed unless it is no JSON any more",
    "the highest ids are those of the schemas in the file; ids of deleted schemas are not known",
)


def is_schema_list(head: bytes) -> bool:
    """Tell whether a file begins as an object with a list of schemas."""
    return _HEAD.match(head) is not None


class SchemaList(Closing):
    """A file as `POST /import/schemas` of AxonOps takes it.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self._path)

    def read(self) -> Reading:
        """Read the whole state; see `Source.read`."""
        try:
            value = load_json(self._path.read_bytes())
        except orjson.JSONDecodeError as error:
            raise self._refused(f"it is cut or no JSON: {error}") from None
        except MemoryError as error:
            raise self._refused(str(error)) from None
        except OSError as error:
            raise Unreadable(f"{self._path} cannot be read: {error.strerror}") from None
        schemas = value.get("schemas") if isinstance(value, dict) else None
        if not isinstance(schemas, list):
            raise self._refused("it has no list of schemas")
        lines = [self._line(schema, number) for number, schema in enumerate(schemas)]
        try:
            state = State.of_lines(lines)
        except Failure as error:
            raise self._refused(str(error).replace("line ", "item ", 1)) from None
        if len(state.versions) != len(lines):
            raise self._refused("a version of a subject is in it twice")
        return Reading(replace(state, contexts=_contexts(state)), Origin(self.name, "axonops"), _NOTES)

    def _line(self, schema: object, number: int) -> Mapping[str, Any]:
        if not isinstance(schema, dict):
            raise self._refused(f"item {number + 1} is no object")
        return {**schema, "kind": "schema", "ts": 0}

    def _refused(self, why: str) -> Unreadable:
        return Unreadable(f"{self._path} is not whole, and nothing of it is used: {why}")


def _contexts(state: State) -> Mapping[str, ContextState]:
    """The contexts of the versions, with the highest ids that are known."""
    highest = {DEFAULT_CONTEXT: 0}
    for version in state.versions.values():
        context = context_of(version.subject)
        highest[context] = max(version.schema_id, highest.get(context, 0))
    return {name: ContextState(listed=True, highest_id=schema_id) for name, schema_id in sorted(highest.items())}
