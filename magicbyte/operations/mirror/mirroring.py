"""Bringing the target to the state of the source: as a whole, or as far as some changes tell."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from magicbyte.kit.failure import Failure
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.mirror.feed import Event
from magicbyte.operations.mirror.guards import (
    doubt_of,
    require_deletable,
    require_feed,
    require_no_conflict,
    require_same_mirror,
)
from magicbyte.operations.mirror.mark import FOLLOWING, Anchor, Mark, settings_name
from magicbyte.operations.mirror.metrics import MirrorMetrics
from magicbyte.operations.mirror.naming import Naming, Placed, placed
from magicbyte.operations.mirror.origin import Origin
from magicbyte.operations.mirror.plan import Plan, Scope, mirrored_mode, plan_changes
from magicbyte.operations.mirror.source_part import read_part
from magicbyte.operations.mirror.target import Fenced, Target
from magicbyte.operations.mirror.target_state import TargetState, subjects_of
from registry.feed.export import GLOBAL_SETTINGS
from registry.state.model import SubjectName, context_of, parse_subject
from registry.state.resolve import settings_key


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a mirror.

    Attributes:
        naming: The names in the target.
        deletes: Whether deletions are mirrored.
        adopt: Whether the first full sync may delete what the source lacks, and take over a promoted target.
    """

    naming: Naming = field(default_factory=Naming)
    deletes: bool = True
    adopt: bool = False


class Mirroring:
    """One mirror: it knows what the target holds, and writes as long as nobody has taken over.

    Args:
        source: The source.
        target: The target.
        options: What to mirror.
        tell: Writes a line to the log.
        metrics: What it counts.
    """

    def __init__(
        self,
        source: Origin,
        target: Target,
        options: Options,
        tell: Callable[[str], None],
        metrics: MirrorMetrics | None = None,
    ) -> None:
        self._source = source
        self._target = target
        self._options = options
        self._tell = tell
        self.metrics = MirrorMetrics() if metrics is None else metrics
        self._epoch = 0
        self._held: TargetState | None = None
        self._may_delete = options.adopt
        self.mark = Mark(source.name, options.naming, options.deletes)
        #: Whether the target's copy of the mark is older.
        self._has_unsaved_mark = False

    @property
    def _root(self) -> str:
        return self._options.naming.root

    @property
    def _names(self) -> tuple[str, str]:
        return self._source.name, self._target.name

    def attach(self) -> None:
        """Read the target, and take over from an earlier mirror; afterwards, only read it if a write has failed.

        Raises:
            Fenced: Another mirror or a promotion has taken over.
            Unreachable: The target does not answer.
            Failure: The target was promoted, or is mirrored in another way.
        """
        if self._held is not None:
            return
        copy = self._target.read()
        epoch, stored = copy.mark(self._root)
        if self._epoch:
            if (epoch, stored and stored.writer) != (self._epoch, self.mark.writer):
                raise Fenced(f"{self._target.name}: another mirror or a promotion has taken over")
            self.mark = stored or self.mark
        else:
            self._take_over(epoch, stored)
        self._held = TargetState(copy.state)

    def _take_over(self, epoch: int, stored: Mark | None) -> None:
        mark = self.mark
        if stored is not None and not self._options.adopt:
            require_same_mirror(stored, mark, self._target.name, self._log_id)
        if stored is not None:
            mark = replace(stored, source=mark.source, naming=mark.naming, deletes=mark.deletes)
            if self._options.adopt and stored != mark:
                mark = replace(mark, offset=None, anchor=None)
            mark = replace(mark, state=FOLLOWING, promoted=0, targets={})
        mark = replace(mark, writer=uuid.uuid4().hex)
        self._target.write(self._root, epoch + 1, (), mark)
        self._epoch, self.mark = epoch + 1, mark

    def _log_id(self) -> str | None:
        return self._source.head().log_id if self._source.has_feed() else None

    def sync_all(self, *, reason: str = "", strict: bool = False, polled: bool = False) -> int:
        """Make the target what the source is; returns how many lines were written.

        Args:
            reason: Why, for the log; empty for a routine comparison.
            strict: Refuse to delete what the source lacks, unless the command has `--adopt`.
            polled: The source has no change feed: refuse to delete most of the target, or all of it.

        Raises:
            Failure: A conflict, or versions that would be deleted; nothing is written.
            Fenced, Unreachable: As for `attach`.
        """
        assert self._held is not None
        if reason:
            self._tell(f"full sync of {self._source.name} to {self._target.name}: {reason}")
        seen = self._source.read()
        if not self._may_delete:
            require_feed(self.mark, seen, self._source.name)
        doubt = doubt_of(self.mark, self._held, seen, polled=polled)
        if doubt and not strict:
            self._tell(doubt)
        is_first = self.mark.offset is None
        # What others referred to stays mirrored: it is in the target, and they may refer to it again.
        part = placed(seen.state, self._options.naming, self.mark.closure)
        contexts = part.contexts.union(self.mark.contexts)
        subjects = {name for name in self._held.subjects() if self._is_mirrored(name, contexts, part)}
        wanted = {name for name, _ in part.state.versions} | subjects_of(part.state.configs, part.state.modes)
        scope = self._scope(subjects | wanted, contexts)
        plan = plan_changes(part.state, self._held, scope)
        plan.conflicts += [
            f"{target[0]} version {target[1]} has to go, and {one[0]} version {one[1]} of the target refers to it, "
            "which is not mirrored"
            for one, target in plan.held_back
        ]
        require_no_conflict(plan, *self._names)
        if not self._may_delete:
            is_strict = strict or is_first or bool(doubt)
            require_deletable(plan, self._held, self._names, strict=is_strict, polled=polled)
        mark = self._with_modes(self._with_contexts(contexts), part, scope, whole=True)
        # A log that was replaced does not have the change.
        anchor = None if strict or doubt else self.mark.anchor
        closure = self._closure((*part.subjects, *(() if self._options.deletes else self.mark.closure)))
        mark = replace(mark, log_id=seen.log_id, offset=seen.offset, anchor=anchor, closure=closure)
        written = self._write(plan, mark, always=True)
        self._source.require(seen.log_id, seen.offset)
        self._may_delete = False
        self.metrics.full_syncs += 1
        if reason or written:
            self._tell(f"{self._target.name} is what {self._source.name} is: {_counted(plan)}")
        return written

    def sync_events(self, events: Sequence[Event]) -> int:
        """Bring the target to the state of the source after some changes; returns how many lines were written.

        Raises:
            Failure: A conflict; nothing is written.
            Fenced, Unreachable: As for `attach`.
        """
        assert self._held is not None
        last = events[-1]
        anchor = anchor_of(last)
        self._source.require(self.mark.log_id, last.offset)
        names = {event.subject or GLOBAL_SETTINGS for event in events}
        names = {name for name in names if self._concerns(name)}
        mark = replace(self.mark, offset=last.offset, anchor=anchor)
        if not names:
            self._note(mark)
            return 0
        part = read_part(self._source, names, last.offset, self.mark, self._held)
        contexts = {self._options.naming.context(context_of(name)) for name in (*names, *part.subjects)}
        named = {self._options.naming.subject(name) for name in (*names, *part.subjects) if parse_subject(name).name}
        scope = self._scope(named, frozenset(context for context in contexts if context is not None))
        plan = plan_changes(part.state, self._held, scope)
        if plan.held_back:
            # They have changed before, and became what they were.
            return self.sync_all(reason="versions refer to others that were replaced")
        require_no_conflict(plan, *self._names)
        mark = replace(mark, closure=self._closure((*self.mark.closure, *part.subjects)))
        known = self._with_contexts(scope.contexts)
        mark = self._with_modes(replace(mark, contexts=known.contexts, before=known.before), part, scope, whole=False)
        return self._write(plan, mark)

    def note_anchor(self, anchor: Anchor) -> None:
        """Remember the last change up to the mark's offset; it is stored with the next write of the mark."""
        if anchor != self.mark.anchor:
            self._note(replace(self.mark, anchor=anchor))

    def save_mark(self) -> None:
        """Write the mark if the target's copy is older."""
        if self._has_unsaved_mark:
            self._save((), self.mark)

    def forget_target(self) -> None:
        """Read the target again at the next `attach`: what was written is unknown."""
        self._held = None

    def _concerns(self, name: str) -> bool:
        naming = self._options.naming
        if not naming.has_place(name):
            return False
        if not parse_subject(name).name:
            return not naming.patterns
        return naming.is_chosen(name) or name in self.mark.closure

    def _is_mirrored(self, name: str, contexts: frozenset[str], part: Placed) -> bool:
        origin = self._options.naming.origin(name)
        return (
            origin is not None
            and context_of(name) in contexts
            and (self._options.naming.is_chosen(origin) or origin in part.subjects or origin in self.mark.closure)
        )

    def _closure(self, subjects: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted({name for name in subjects if not self._options.naming.is_chosen(name)}))

    def _scope(self, subjects: Iterable[str], contexts: frozenset[str]) -> Scope:
        naming = self._options.naming
        return Scope(frozenset(subjects), contexts, settings=not naming.patterns, deletes=self._options.deletes)

    def _with_contexts(self, contexts: Iterable[str]) -> Mark:
        """The mark with contexts that are new to the mirror, and the modes that they had."""
        assert self._held is not None
        new = set(contexts) - set(self.mark.contexts)
        if not new:
            return self.mark
        names = [settings_key(str(SubjectName(context, ""))) for context in new]
        modes = {settings_name(name): mode for name in names if (mode := self._held.modes.get(name)) is not None}
        mark = replace(self.mark, contexts=tuple(sorted({*self.mark.contexts, *new}))).follows_from(modes)
        if modes:
            # Before the mirror sets its own mode: if it is killed in between, it must not take that for the former.
            self._save((), mark)
        return mark

    def _with_modes(self, mark: Mark, part: Placed, scope: Scope, *, whole: bool) -> Mark:
        """The mark with the source's modes that only a promotion sets."""
        of_contexts = {settings_key(str(SubjectName(context, ""))) for context in scope.contexts}
        covered = {settings_name(name) for name in (*of_contexts, *scope.subjects)}
        kept = {} if whole else {name: mode for name, mode in mark.modes.items() if name not in covered}
        for name, mode in part.state.modes.items():
            is_subject = name is not None and bool(parse_subject(name).name)
            if not is_subject or mirrored_mode(mode) is None:
                kept[settings_name(name)] = mode
        return mark if kept == mark.modes else replace(mark, modes=kept)

    def _write(self, plan: Plan, mark: Mark, *, always: bool = False) -> int:
        assert self._held is not None
        mark = replace(mark, changed=int(time.time() * 1000))
        if not plan.lines and not always and mark.modes == self.mark.modes and mark.contexts == self.mark.contexts:
            self._note(mark)
            return 0
        self._save(plan.lines, mark)
        self._held.apply(plan.lines)
        self.metrics.changes += len(plan.lines)
        return len(plan.lines)

    def _save(self, lines: Sequence[Mapping[str, object]], mark: Mark) -> None:
        try:
            self._target.write(self._root, self._epoch, lines, mark)
        except (Unreachable, Failure):
            self.forget_target()
            raise
        self.mark, self._has_unsaved_mark = mark, False

    def _note(self, mark: Mark) -> None:
        self.mark, self._has_unsaved_mark = mark, True


def anchor_of(event: Event) -> Anchor:
    """Return the facts of a change that a mark remembers."""
    return Anchor(event.offset, event.kind, event.subject or "", int(event.data.get("ts") or 0))


def _counted(plan: Plan) -> str:
    counted = ", ".join(f"{count} {name}" for name, count in sorted(plan.counts.items()))
    return f"written: {counted}" if counted else "nothing had to be written"
