"""Whether a release reads all records of a topic or a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import orjson

from magicbyte.kit.plural import plural
from magicbyte.operations.sources.port import RawSource, Source
from magicbyte.operations.state import State
from magicbyte.operations.upgrade.findings import Finding, Severity
from magicbyte.operations.upgrade.releases import KEY_TYPES, WITHOUT_KEY_TYPE, Release, release_of
from registry.log.port import LogEntry


def check_log(source: Source, target: Release) -> Iterator[Finding]:
    """Read a source to its end, and yield what a release would not read.

    A registry's URL or a file of states has no records: only that it can be read as a whole is checked.

    Args:
        source: The source.
        target: The release.

    Raises:
        Unreachable: The source does not answer.
        Unreadable: A file is cut or was changed.
    """
    key_types: Counter[str] = Counter()
    if isinstance(source, RawSource):

        def counted() -> Iterator[LogEntry]:
            for record in source.records():
                key_types[_key_type(record.key)] += 1
                yield record.entry

        state = State.of_entries(counted())
    else:
        state = source.read().state
    counts = ", ".join(f"{count} {name}" for name, count in sorted(key_types.items()))
    summary = f"read to its end: {plural(len(state.versions), 'version')}" + (f"; records: {counts}" if counts else "")
    yield Finding(Severity.NOTE, source.name, summary)
    for reason, count in sorted(state.passed_over.items()):
        yield Finding(
            Severity.PROBLEM,
            source.name,
            f"{plural(count, 'record')} that no release reads ({reason})",
            "find them with `magicbyte fsck`, and decide before the upgrade",
        )
    for name, count in sorted(key_types.items()):
        since = KEY_TYPES.get(name)
        if since is None:
            yield Finding(Severity.NOTE, source.name, f"{plural(count, 'record')} of the type {name} are passed over")
        elif release_of(since) > target:
            effect = WITHOUT_KEY_TYPE.get(name, "they have no effect there")
            text = f"{plural(count, 'record')} of the type {name}, which {since} has brought: {effect}"
            yield Finding(Severity.PROBLEM, source.name, text, f"stay at {since} or later, or accept it")


def _key_type(raw: bytes | None) -> str:
    try:
        key = orjson.loads(raw or b"")
    except orjson.JSONDecodeError:
        return "unreadable"
    return str(key.get("keytype", "unreadable")) if isinstance(key, dict) else "unreadable"
