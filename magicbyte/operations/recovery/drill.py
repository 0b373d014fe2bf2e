"""Recovery drills: a copy of a registry is made in a scratch registry, compared, timed and deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.comparison.compare import compare
from magicbyte.operations.mirror.mirroring import Mirroring, Options
from magicbyte.operations.mirror.origin import Origin
from magicbyte.operations.mirror.plan import removal, settings_of
from magicbyte.operations.mirror.target import Target
from magicbyte.operations.sources.port import Source, not_shown
from magicbyte.operations.state import State
from registry.feed.export import in_order
from registry.state.model import DEFAULT_CONTEXT

#: How often a source that changes meanwhile is copied again.
_TRIES = 3


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
        Unreachable, Failure: As for a mirror.
    """
    drill = Drill(source.name)
    mirroring = Mirroring(source, scratch, Options(adopt=True), tell)
    for _ in range(_TRIES):
        with drill.step("copy"):
            mirroring.attach()
            mirroring.sync_all(reason="a drill")
        with drill.step("compare"):
            copied = scratch.read().state
            # The mode of a mirror's target is IMPORT.
            drill.differences = _differences(source.read().state, copied, ignored=frozenset({"mode"}))
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
        Unreachable, Unreadable, Failure: An end does not answer, or the backup is not whole.
    """
    drill = Drill(backup.name)
    with drill.step("read"):
        reading = backup.read()
        state = reading.state
    with drill.step("copy"):
        scratch.write_lines(state.lines())
    with drill.step("compare"):
        copied = scratch.read().state
        # A copy of a part is no recovery.
        drill.differences = [*not_shown(backup.name, reading.withheld), *_differences(state, copied)]
    drill.versions = len(copied.versions)
    if source is not None:
        drill.behind = len(source.read().state.versions.keys() - state.versions.keys())
    return drill


def _differences(wanted: State, copied: State, *, ignored: frozenset[str] = frozenset()) -> list[str]:
    """The differences of a copy; its higher ids do not count, since earlier drills may have given them."""
    found = compare(wanted, copied, ignored=ignored).differences
    return [one.sentence for one in found if one.kind.code != "HIGHEST_ID" or one.left > one.right]


@contextmanager
def emptied(scratch: Target, tell: Callable[[str], None]) -> Iterator[None]:
    """An empty scratch registry, which is emptied again at the end, also after an error or Ctrl-C.

    Raises:
        Failure: It is not empty.
        Unreachable: It does not answer.
    """
    require_empty(scratch)
    try:
        yield
    except BaseException:
        try:
            empty(scratch)
        except Failure as error:
            tell(f"{scratch.name} is not emptied, and the next drill will refuse it: {error}")
        raise
    empty(scratch)


def require_empty(scratch: Target) -> None:
    """Check that a scratch registry has nothing, but for marks of ids: a drill deletes all that it has.

    Raises:
        Failure: It has something.
    """
    copy = scratch.read()
    state = copy.state
    listed = [name for name, context in state.contexts.items() if context.listed and name != DEFAULT_CONTEXT]
    counts = {
        "version": len(state.versions),
        "config": len(state.configs),
        "mode": len(state.modes),
        "context": len(listed),
        "mirror's mark": len(copy.marks),
    }
    found = [plural(count, noun) for noun, count in counts.items() if count]
    if found:
        raise Failure(f"{scratch.name} has {', '.join(found)}; a drill needs an empty registry, which it empties again")


def empty(scratch: Target) -> None:
    """Delete all versions, settings and marks of mirrors of a scratch registry; the marks of its ids stay."""
    copy = scratch.read()
    state = copy.state
    scratch.write_lines([removal("mode", **settings_of(name)) for name in state.modes])
    versions = [*in_order(list(state.versions.values()))][::-1]
    scratch.write_lines(removal("schema", subject=one.subject, version=one.number) for one in versions)
    scratch.write_lines([removal("config", **settings_of(name)) for name in state.configs])
    contexts = [name for name in state.contexts if name != DEFAULT_CONTEXT]
    scratch.write_lines([removal("context", context=name) for name in contexts])
    scratch.write_lines([removal("mirror", context=root) for root in copy.marks])
