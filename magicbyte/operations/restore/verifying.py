"""Verification: all that a backup has is compared with a registry, and all that the registry has with the backup."""

from __future__ import annotations

from dataclasses import dataclass, replace

from magicbyte.operations.comparison.compare import compare
from magicbyte.operations.comparison.difference import Comparison
from magicbyte.operations.restore.restoring import Options, part_of
from magicbyte.operations.restore.selecting import restrict
from magicbyte.operations.restore.targets.port import Progress
from magicbyte.operations.sources.port import Source
from magicbyte.operations.sources.wholeness import require_whole
from magicbyte.operations.state import ContextState, State

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification.

    Attributes:
        state: What was compared of the backup.
        comparison: The backup on the left, the target on the right.
        notes: What the sources could not tell, each a sentence.
    """

    state: State
    comparison: Comparison
    notes: tuple[str, ...]


def verify(
    source: Source, target: Source, options: Options, progress: Progress, *, ignored: frozenset[str] = _NOTHING
) -> Verified:
    """Compare a backup with a target; nothing is written.

    If only a part of the backup is compared, what else the target has does not count.

    Args:
        source: The backup.
        target: What it was restored into.
        options: The part of the backup, the contexts that it was restored into, and whether an end may be partial.
        progress: Takes lines of progress.
        ignored: The kinds of differences that do not count; see `compare`.

    Raises:
        Withheld: One of them does not show everything, and this is not accepted.
        Unreachable, Unreadable: One of them cannot be read.
        Failure: The options choose nothing.
    """
    progress(f"reading {source.name}")
    reading = source.read()
    require_whole(source.name, reading.withheld, "nothing was compared", partial=options.partial)
    state = part_of(reading.state, options)
    progress(f"reading {target.name}")
    other = target.read()
    require_whole(target.name, other.withheld, "nothing was compared", partial=options.partial)
    theirs = other.state
    if options.only or options.contexts:
        theirs = _with_marks_of(restrict(theirs, state), state)
    return Verified(state, compare(state, theirs, ignored=ignored), (*reading.remarks, *other.remarks))


def _with_marks_of(theirs: State, state: State) -> State:
    """A target that has given more ids than the backup is as it should be: other schemas have them."""
    contexts = {
        name: ContextState(context.listed, min(context.highest_id, state.contexts[name].highest_id))
        for name, context in theirs.contexts.items()
    }
    return replace(theirs, contexts=contexts)
