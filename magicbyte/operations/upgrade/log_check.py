"""Whether a release reads all records of a topic or a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import orjson

from magicbyte.kit.plural import plural
from magicbyte.operations.sources.port import RawSource, Source
from magicbyte.operations.state import State
from magicbyte.operations.upgrade.findings import Finding, Severity
from magicbyte.operations.upgrade.releases import KEY_TYPES, Release, release_of
from registry.log.port import LogEntry
from registry.state.records import Undecodable

_UNREADABLE = "unreadable"


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
    passed_over = Counter(state.passed_over)
    # Every release counts the types that it does not know as undecodable; a newer one or another vendor may read them.
    passed_over[Undecodable.reason] -= sum(count for name, count in key_types.items() if _is_foreign(name))
    for reason, count in sorted((+passed_over).items()):
        yield Finding(
            Severity.PROBLEM,
            source.name,
            f"{plural(count, 'record')} that no release reads ({reason})",
            "find them with `magicbyte fsck`, and decide before the upgrade",
        )
    for name, count in sorted(key_types.items()):
        since = KEY_TYPES.get(name)
        if since is None and _is_foreign(name):
            yield Finding(Severity.NOTE, source.name, f"{plural(count, 'record')} of the type {name} are passed over")
        elif since is not None and release_of(since) > target:
            text = f"{plural(count, 'record')} of the type {name}: releases before {since} ignore the type"
            yield Finding(Severity.PROBLEM, source.name, text, f"stay at {since} or later, or accept it")


def _is_foreign(key_type: str) -> bool:
    return key_type not in KEY_TYPES and key_type != _UNREADABLE


def _key_type(raw: bytes | None) -> str:
    try:
        key = orjson.loads(raw or b"")
    except orjson.JSONDecodeError:
        return _UNREADABLE
    key_type = key.get("keytype") if isinstance(key, dict) else None
    return key_type if isinstance(key_type, str) else _UNREADABLE
