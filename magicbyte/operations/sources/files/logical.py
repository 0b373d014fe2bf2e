"""Logical backups, and exports of our registry: its state as lines of JSON, readable by `POST /import`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from magicbyte.kit.failure import Failure
from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.closed_lines import closed_lines
from magicbyte.operations.sources.port import Origin, Reading
from magicbyte.operations.sources.wholeness import notes_of, withheld_by
from magicbyte.operations.state import State
from registry.feed.export import FORMAT_VERSION
from registry.state.json_text import load_json
from registry.state.line_kinds import MIRRORED, STATE_KINDS

#: What a file of this form begins with.
LOGICAL_HEAD = b'{"kind":"manifest","format":'


class LogicalFile(Closing):
    """A file with the state of a registry."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self._path)

    def read(self) -> Reading:
        """Read the whole state; see `Source.read`."""
        manifest: dict[str, Any] = {}
        counts = Counter[str]()

        def values() -> Iterator[Mapping[str, Any]]:
            for number, line in enumerate(closed_lines(self._path), 1):
                value = _object(number, line)
                kind = value.get("kind")
                if number == 1:
                    manifest.update(_manifest(value))
                elif isinstance(kind, str) and kind in STATE_KINDS:
                    counts[STATE_KINDS[kind]] += 1
                elif kind != MIRRORED:
                    raise Failure(f"line {number} is of an unknown kind")
                yield value

        try:
            state = State.of_lines(values())
            _check_counts(manifest, counts, state)
        except Unreadable:
            raise
        except Failure as error:
            raise Unreadable(f"{self._path} cannot be used: {error}") from None
        return Reading(state, _origin(self.name, manifest), notes_of(manifest), withheld_by(manifest))


def _object(number: int, line: bytes) -> dict[str, Any]:
    try:
        value = load_json(line)
    except orjson.JSONDecodeError as error:
        raise Failure(f"line {number} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Failure(f"line {number} is not an object")
    return value


def _manifest(value: Mapping[str, Any]) -> Mapping[str, Any]:
    if value.get("kind") != "manifest":
        raise Failure("its first line is no manifest")
    version = value.get("format")
    if version != FORMAT_VERSION:
        raise Failure(f"it is of format {version!r}, and this version of Magicbyte reads {FORMAT_VERSION}")
    return value


def _check_counts(manifest: Mapping[str, Any], counts: Counter[str], state: State) -> None:
    """Compare the lines with the manifest's counts, which an export lacks, and with what they say of the registry."""
    if not manifest:
        raise Failure("it has no manifest")
    claimed = manifest.get("counts")
    if claimed is not None and claimed != {name: counts[name] for name in STATE_KINDS.values()}:
        raise Failure(f"its manifest counts {claimed}, but it holds {dict(counts)}")
    if counts["schemas"] != len(state.versions):
        raise Failure("it holds a version of a subject twice")


def _origin(name: str, manifest: Mapping[str, Any]) -> Origin:
    offset, defaults = manifest.get("offset"), manifest.get("defaults")
    cluster_ids = manifest.get("clusterIds")
    return Origin(
        name,
        str(manifest.get("vendor", "magicbyte")),
        str(manifest.get("version", manifest.get("magicbyte", ""))),
        offset if type(offset) is int else None,
        {str(key): str(value) for key, value in cluster_ids.items()} if isinstance(cluster_ids, dict) else {},
        {str(key): str(value) for key, value in defaults.items()} if isinstance(defaults, dict) else {},
    )
