"""The registry that a migration goes to: whether it can take what the origin has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from magicbyte.kit.plural import plural
from magicbyte.operations.migration.finding import Finding
from magicbyte.operations.restore.conflicts import conflicts_of
from magicbyte.operations.servers import MAGICBYTE, Server
from magicbyte.operations.state import State
from registry.state.model import MODES

_SHOWN = 10


def check_target(origin: State, target: State, server: Server) -> Iterator[Finding]:
    """Conflicts with what the target has, and a mode that stops a restore.

    Args:
        origin: The state of the origin.
        target: The state of the target.
        server: The target.
    """
    if server.vendor != MAGICBYTE:
        yield Finding("TARGET_FOREIGN", f"the target is {server.title}, which may not hold all that the origin has")
    conflicts = conflicts_of(origin, target)
    for conflict in conflicts[:_SHOWN]:
        yield Finding("TARGET_CONFLICT", conflict.sentence)
    if len(conflicts) > _SHOWN:
        yield Finding("TARGET_CONFLICT", f"{plural(len(conflicts) - _SHOWN, 'more conflict')}")
    others = sorted({subject for subject, _ in target.versions} - {subject for subject, _ in origin.versions})
    if others:
        yield Finding(
            "TARGET_NOT_EMPTY",
            f"the target has {plural(len(others), 'subject')} that the origin lacks, such as {others[0]}",
        )
    for owner, mode in sorted(target.modes.items(), key=str):
        if mode in MODES and MODES[mode].read_only:
            yield Finding("TARGET_READ_ONLY", f"{owner or 'the target'} is in mode {mode}")


def check_defaults(origin: Mapping[str, str], target: str) -> Iterator[Finding]:
    """A level by default that is another one after the move.

    Args:
        origin: The effective settings of the origin where it has none of its own.
        target: The default level of the target.
    """
    level = origin.get("compatibilityLevel")
    if level is not None and level != target:
        sentence = f"subjects without a level are at {level} at the origin, and at {target} in the target"
        yield Finding("DEFAULT_LEVEL", sentence)
