"""Recovery drills: a copy of a registry is made in a scratch registry, compared, timed and deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from magicbyte.kit.failure import Failure
from magicbyte.operations.comparison.compare import compare
from magicbyte.operations.mirror.mirroring import Mirroring, Options
from magicbyte.operations.mirror.origin import Origin
from magicbyte.operations.mirror.target import Target, answered
from magicbyte.operations.sources.port import Source
from registry.feed.export import in_order
from registry.state.model import DEFAULT_CONTEXT

#: How often a source that changes meanwhile is copied again.
_TRIES = 3
_LINES_AT_ONCE = 190


@dataclass(slots=True)
class Drill:
    """The result of a drill.

    Attributes:
        source: What was copied.
        versions: How many versions the copy has.
        differences: What differs between what was copied and the copy, each a sentence.
        behind: How many versions the registry has that the backup lacks; None if it was not compared.
        seconds: Step -> how long it took.
    """

    source: str
    versions: int = 0
    differences: list[str] = field(default_factory=list)
    behind: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON value."""
        return {
            "source": self.source,
            "versions": self.versions,
            "differences": self.differences,
            **({} if self.behind is None else {"behind": self.behind}),
            "seconds": {name: round(seconds, 3) for name, seconds in self.seconds.items()},
        }

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step; steps of the same name add up."""
        began = time.monotonic()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - began


def drill_mirror(source: Origin, scratch: Target, tell: Callable[[str], None]) -> Drill:
    """Mirror a registry into a scratch registry, and compare.

    Raises:
        Unreachable, Failure: As for a mirror; the scratch registry has versions.
    """
    drill = Drill(source.name)
    require_empty(scratch)
    mirroring = Mirroring(source, scratch, Options(adopt=True), tell)
    for _ in range(_TRIES):
        with drill.step("copy"):
            mirroring.attach()
            mirroring.sync_all(reason="a drill")
        with drill.step("compare"):
            copied = scratch.read().state
            # The mode of a mirror's target is IMPORT.
            found = compare(source.read().state, copied, ignored=frozenset({"mode"}))
        drill.differences = [one.sentence for one in found.differences]
        if not drill.differences:
            break
    drill.versions = len(copied.versions)
    return drill


def drill_backup(backup: Source, source: Origin | None, scratch: Target) -> Drill:
    """Restore a backup into a scratch registry, and compare with the backup.

    Args:
        backup: The backup.
        source: The registry that it is of, to tell how far the backup is behind; None to leave that out.
        scratch: The scratch registry.

    Raises:
        Unreachable, Unreadable, Failure: An end does not answer, the backup is not whole, or the scratch registry has
            versions.
    """
    drill = Drill(backup.name)
    require_empty(scratch)
    with drill.step("read"):
        state = backup.read().state
    with drill.step("copy"):
        write(scratch, state.lines())
    with drill.step("compare"):
        copied = scratch.read().state
        drill.differences = [one.sentence for one in compare(state, copied).differences]
    drill.versions = len(copied.versions)
    if source is not None:
        drill.behind = len(source.read().state.versions.keys() - state.versions.keys())
    return drill


def require_empty(scratch: Target) -> None:
    """Check that a scratch registry has no versions: a drill deletes all that it has.

    Raises:
        Failure: It has some.
    """
    if versions := scratch.read().state.versions:
        raise Failure(
            f"{scratch.name} has {len(versions)} versions; a drill needs an empty registry, which it empties again"
        )


def empty(scratch: Target) -> None:
    """Delete all versions and settings of a scratch registry; the marks of its ids stay."""
    state = scratch.read().state
    write(scratch, [_removal("mode", name) for name in state.modes])
    versions = [*in_order(list(state.versions.values()))][::-1]
    write(scratch, ({**_removal("schema", one.subject), "version": one.number} for one in versions))
    write(scratch, [_removal("config", name) for name in state.configs])
    write(
        scratch,
        [{"kind": "removal", "of": "context", "context": name} for name in state.contexts if name != DEFAULT_CONTEXT],
    )


def _removal(of: str, name: str | None) -> dict[str, Any]:
    return {"kind": "removal", "of": of, **({} if name is None else {"subject": name})}


def write(scratch: Target, lines: Iterable[Mapping[str, Any]]) -> None:
    """Import lines.

    Raises:
        Failure: Some are refused.
    """
    listed: list[Mapping[str, Any]] = list(lines)
    for first in range(0, len(listed), _LINES_AT_ONCE):
        part = listed[first : first + _LINES_AT_ONCE]
        body = b"\n".join(map(orjson.dumps, part))
        answer = answered(scratch.end, "POST", "/import", query={"lines": True}, body=body)
        if refused := orjson.loads(answer.body)["refused"]:
            told = "; ".join(one["message"] for one in refused[:10])
            raise Failure(f"{scratch.name} refuses {len(refused)} lines: {told}")
