"""Checks before a mirror writes: source and target are the ones that it follows, and it may delete what it deletes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.mirror.mark import FOLLOWING, Mark
from magicbyte.operations.mirror.origin import Seen
from magicbyte.operations.mirror.plan import Plan
from magicbyte.operations.mirror.target_state import TargetState

#: How many conflicts and extra versions an error lists.
_LISTED = 10
#: A polled source that lost so many versions, and this part of them, was probably set back.
_MANY, _MOST_LOST = 20, 0.5


def require_same_mirror(stored: Mark, mark: Mark, target: str, log_id: Callable[[], str | None]) -> None:
    """Check that the target's mark is of the mirror that begins now.

    Args:
        stored: The target's mark.
        mark: The mark of the mirror that begins.
        target: The target's name.
        log_id: Asks the source for the id of its log; None if it has no change feed.

    Raises:
        Failure: The target was promoted, or is mirrored in another way, or from another source.
    """
    if stored.state != FOLLOWING:
        raise Failure(
            f"{target} was promoted; a mirror would delete what was written there since. Mirror the "
            "other way, or pass --adopt to make it a standby again"
        )
    if (stored.naming, stored.deletes) != (mark.naming, mark.deletes):
        raise Failure(
            f"{target} is mirrored with other --context, --subjects, --rename or --no-deletes; use "
            "those again, or pass --adopt to change them"
        )
    if stored.source != mark.source and stored.log_id != log_id():
        raise Failure(
            f"context {mark.naming.root} of {target} is mirrored from {stored.source}; use another --context, "
            f"or pass --adopt to mirror {mark.source} there"
        )


def require_feed(mark: Mark, seen: Seen, source: str) -> None:
    """Check that a source which had a change feed still has it: else something answers in its place.

    Raises:
        Unreachable: It has none.
    """
    if mark.log_id and not seen.log_id:
        raise Unreachable(
            f"{source} had a change feed, and has none now. If it is another registry from now on, or "
            "the mirror's user has lost DESCRIBE on the registry, give the right back, or pass --adopt"
        )


def doubt_of(mark: Mark, held: TargetState, seen: Seen, *, polled: bool) -> str:
    """A sign that the source is not the followed one, or was set back; empty if there is none."""
    if mark.log_id and seen.log_id != mark.log_id:
        return f"the log of the source is another one, its id is {seen.log_id} and was {mark.log_id}"
    if mark.offset is not None and seen.offset < mark.offset:
        return f"the source was set back: it ends at offset {seen.offset} and had offset {mark.offset}"
    if polled and held.versions and not seen.state.versions:
        return "the source has no schemas"
    return ""


def require_no_conflict(plan: Plan, source: str, target: str) -> None:
    """Check that the target can become what the source is.

    Raises:
        Failure: The plan has conflicts.
    """
    if plan.conflicts:
        raise Failure(
            f"{plural(len(plan.conflicts), 'conflict')} between {source} and {target}, "
            f"nothing is written: {_listed(plan.conflicts)}"
        )


def require_deletable(plan: Plan, held: TargetState, names: tuple[str, str], *, strict: bool, polled: bool) -> None:
    """Check that versions which the source lacks may be deleted.

    Args:
        plan: What will be written.
        held: The target.
        names: The names of the source and of the target.
        strict: Refuse to delete any.
        polled: Refuse to delete most of them.

    Raises:
        Failure: They may not be deleted.
    """
    source, target = names
    lost = len(plan.extras)
    if not lost:
        return
    if strict or (polled and lost >= _MANY and lost > _MOST_LOST * len(held.versions)):
        named = [f"{subject} version {number} (id {schema_id})" for subject, number, schema_id in plan.extras]
        raise Failure(
            f"{target} has {plural(lost, 'version')} that {source} lacks, nothing is written:"
            f" {_listed(named)}. If they are wanted, restore them there, or mirror into a context of its own with "
            "--context NAME, or keep them with --no-deletes. If not, pass --adopt, which deletes them"
        )


def _listed(texts: Sequence[str]) -> str:
    more = f"; and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return "; ".join(texts[:_LISTED]) + more
