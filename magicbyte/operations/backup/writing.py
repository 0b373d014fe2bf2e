"""Writing backups: the state of a registry, or the records of its log."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import orjson

from magicbyte import __version__
from magicbyte.kit.failure import Failure
from magicbyte.operations.backup.output_file import OutputFile
from magicbyte.operations.sources.files.raw import RAW_FORMAT, RawLine
from magicbyte.operations.sources.port import Origin, RawSource, Reading
from registry.feed.export import FORMAT_VERSION

#: Called now and then with a number of lines that were written.
Progress = Callable[[int], None]
_LINES_BETWEEN_PROGRESS = 10_000


@dataclass(frozen=True, slots=True)
class Written:
    """A backup that was made.

    Attributes:
        path: Its file.
        form: `logical` or `raw`.
        size: Its size in bytes.
        counts: What it holds: contexts, schemas (versions), configs and modes, or records.
        offset: The offset up to which the source's log was read; None without one.
        notes: What the source could not tell.
    """

    path: Path
    form: str
    size: int
    counts: Mapping[str, int]
    offset: int | None
    notes: tuple[str, ...]


def write_logical(reading: Reading, path: Path, *, progress: Progress, more: Mapping[str, object]) -> Written:
    """Write a state as a file that `POST /import` takes.

    Args:
        reading: The state, and where it was read.
        path: The file, compressed if its name ends in `.zst`. A file that is there is replaced when the new one is
            complete.
        progress: Called with the number of lines so far.
        more: More of the manifest, such as `lacksContexts`.

    Raises:
        Failure: The file cannot be written.
    """
    state, origin = reading.state, reading.origin
    counts = {
        "contexts": len(state.contexts),
        "schemas": len(state.versions),
        "configs": len(state.configs),
        "modes": len(state.modes),
    }
    manifest = {
        "kind": "manifest",
        "format": FORMAT_VERSION,
        "magicbyte": __version__,
        "offset": origin.offset,
        **_about(origin),
        "defaults": dict(origin.defaults),
        "counts": counts,
        "notes": list(reading.notes),
        **more,
    }
    with OutputFile(path) as file:
        file.write(orjson.dumps(manifest) + b"\n")
        for number, line in enumerate(state.lines(), 1):
            file.write(orjson.dumps(line) + b"\n")
            if number % _LINES_BETWEEN_PROGRESS == 0:
                progress(number)
    return Written(path, "logical", file.size, counts, origin.offset, reading.notes)


def write_raw(source: RawSource, path: Path, *, progress: Progress) -> Written:
    """Write all committed records of a log as a file.

    Args:
        source: The log.
        path: The file; see `write_logical`.
        progress: Called with the number of records so far.

    Raises:
        Failure: The file cannot be written, or the log holds an offset twice.
        Unreachable, Unreadable: The log cannot be read.
    """
    topic_configs = dict(source.topic_configs())
    notes = source.notes()
    manifest = {
        "kind": "manifest",
        "format": RAW_FORMAT,
        "magicbyte": __version__,
        **_about(source.origin()),
        "topicConfigs": topic_configs,
        "notes": list(notes),
    }
    encoder = msgspec.json.Encoder()
    number, offset = 0, -1
    with OutputFile(path) as file:
        file.write(orjson.dumps(manifest) + b"\n")
        for number, record in enumerate(source.records(), 1):
            if record.offset <= offset:
                raise Failure(f"{source.name} holds offset {record.offset} after {offset}")
            offset = record.offset
            raw = RawLine(offset, record.timestamp, record.key, record.value, record.headers)
            file.write(encoder.encode(raw) + b"\n")
            if number % _LINES_BETWEEN_PROGRESS == 0:
                progress(number)
    return Written(path, "raw", file.size, {"records": number}, offset if number else None, notes)


def _about(origin: Origin) -> dict[str, Any]:
    return {
        "tool": "magicbyte backup",
        "source": origin.name,
        "vendor": origin.vendor,
        "version": origin.version,
        "clusterIds": dict(origin.cluster_ids),
        "started": time.time_ns() // 1_000_000,
    }
