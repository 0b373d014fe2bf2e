"""The steps of a restore: read and check, compare with the target, write, read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.comparison.compare import compare
from magicbyte.operations.comparison.difference import Comparison
from magicbyte.operations.restore.conflicts import Conflict, conflicts_of, merged, without
from magicbyte.operations.restore.faults import FAULTS, faults_of
from magicbyte.operations.restore.mapping import map_contexts
from magicbyte.operations.restore.plan import Loss, Plan, Written
from magicbyte.operations.restore.selecting import Selection, select
from magicbyte.operations.restore.targets.port import Progress, Target
from magicbyte.operations.sources.port import RawRecord, RawSource, Reading, Source, not_shown
from magicbyte.operations.sources.wholeness import require_whole
from magicbyte.operations.state import State


class Refused(Failure):
    """A restore that writes nothing; the text lists every reason."""

    def __init__(self, reason: str, sentences: Sequence[str], remedy: str) -> None:
        super().__init__("\n".join([f"{reason}; nothing is written", *(f"  {one}" for one in sentences), remedy]))


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a restore.

    Attributes:
        only: The patterns that select a part; all is restored without one.
        contexts: Context -> the context that it is restored into.
        skips_conflicts: Leave out what contradicts the target, instead of writing nothing.
        accepted: The kinds of faults and losses that are accepted.
        dry_run: Write nothing.
        reads_back: Read the target afterwards, and compare all of it.
        partial: Accept a source or a target that does not show everything.
    """

    only: Sequence[Selection] = ()
    contexts: Mapping[str, str] = field(default_factory=dict)
    skips_conflicts: bool = False
    accepted: frozenset[str] = frozenset()
    dry_run: bool = False
    reads_back: bool = True
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore, or of its dry run.

    Attributes:
        state: What was restored.
        written: How much was written; None in a dry run.
        conflicts: What was left out because it contradicts the target.
        left_out: Sentences about versions that were left out because of what they refer to.
        losses: What the target cannot hold, which the user accepts.
        notes: What the user has to know, each a sentence.
        comparison: What was expected in the target, compared with what is there; None if it was not read back.
        unlike: What of the records of a log is not as it was to be written, each a sentence.
    """

    state: State
    written: Written | None
    conflicts: Sequence[Conflict] = ()
    left_out: Sequence[str] = ()
    losses: Sequence[Loss] = ()
    notes: Sequence[str] = ()
    comparison: Comparison | None = None
    unlike: Sequence[str] = ()

    @property
    def is_whole(self) -> bool:
        """Tell whether nothing was left out, and the target is as it should be."""
        is_written = not (self.conflicts or self.losses or self.unlike)
        return is_written and (self.comparison is None or self.comparison.is_equal)


def restore(source: Source, target: Target, options: Options, progress: Progress) -> Restored:
    """Restore a source into a target.

    Raises:
        Refused: Nothing was written, because the source is faulty, or the target cannot take it.
        Withheld: The source or the target does not show everything, and this is not accepted.
        Unreachable, Unreadable: The source or the target cannot be read or written.
        Failure: The target refused something while it was written.
    """
    progress(f"reading {source.name}")
    reading = source.read()
    require_whole(source.name, reading.withheld, "nothing was written", partial=options.partial)
    state = part_of(reading.state, options)
    plan = Plan(state, _records(source, reading, options), options.accepted)
    _refuse_faults(state, options.accepted)
    progress(f"comparing with {target.name}")
    losses = _refuse_losses(target, plan)
    before = target.state()
    require_whole(target.name, target.withheld, "nothing was written", partial=options.partial)
    conflicts = conflicts_of(target.storable(plan.state), before, target.unfinished(before))
    left_out: list[str] = []
    if conflicts and not options.skips_conflicts:
        raise Refused(
            f"{target.name} contradicts {source.name}: {plural(len(conflicts), 'conflict')}",
            [conflict.sentence for conflict in conflicts],
            "--on-conflict skip leaves these out, and --map-context .=.recovered restores into another context.",
        )
    if conflicts:
        rest, left_out = without(plan.state, conflicts)
        plan = replace(plan, state=rest)
    refusals = target.check(plan)
    if refusals:
        raise Refused(f"{target.name} refuses {source.name}", refusals, "Correct this, and run the restore again.")
    done = Restored(plan.state, None, conflicts, left_out, losses, _notes(reading, target))
    if options.dry_run:
        return done
    written = target.write(plan, progress)
    done = replace(done, written=written, notes=(*done.notes, *written.notes))
    if not options.reads_back:
        return done
    progress(f"reading {target.name} back")
    expected, actual = _expected(target, plan, before), target.read_back()
    # A state does not show times of settings, headers, tombstones, and records that no registry reads.
    done = replace(done, unlike=target.unlike(plan))
    if not target.is_log:
        # Others may write to a running registry meanwhile; what they have registered is no fault of the restore.
        others = {place: one for place, one in actual.versions.items() if place not in expected.versions}
        if others:
            expected = merged(expected, State(versions=others))
            done = replace(
                done, notes=(*done.notes, f"others have registered {plural(len(others), 'version')} meanwhile")
            )
    return replace(done, comparison=compare(expected, actual))


def part_of(state: State, options: Options) -> State:
    """The part of a state that the options choose, under its new names.

    Raises:
        Failure: They choose nothing, or two things would get one name.
    """
    chosen = select(state, options.only) if options.only else state
    return map_contexts(chosen, options.contexts) if options.contexts else chosen


def _records(source: Source, reading: Reading, options: Options) -> Callable[[], Iterator[RawRecord]] | None:
    """The records of a whole log up to where it was read; None if there are none, or only a part is restored."""
    if not isinstance(source, RawSource) or options.only or options.contexts:
        return None
    end = reading.origin.offset

    def records() -> Iterator[RawRecord]:
        for record in source.records():
            if end is not None and record.offset > end:
                return
            yield record

    return records


def _refuse_faults(state: State, accepted: frozenset[str]) -> None:
    faults = [fault for fault in faults_of(state) if fault.kind not in accepted]
    if faults:
        kinds = dict.fromkeys(fault.kind for fault in faults)
        acceptable = kinds.keys() <= FAULTS.keys()
        raise Refused(
            f"the backup has {plural(len(faults), 'fault')}",
            [fault.sentence for fault in faults],
            f"--accept {','.join(kinds)} restores it as it is." if acceptable else "The backup cannot be restored.",
        )


def _refuse_losses(target: Target, plan: Plan) -> list[Loss]:
    losses = target.losses(plan)
    refused = [loss for loss in losses if loss.kind not in plan.accepted]
    if refused:
        kinds = ",".join(dict.fromkeys(loss.kind for loss in refused))
        raise Refused(
            f"{target.name} cannot hold all of the backup",
            [loss.sentence for loss in refused],
            f"--accept {kinds} restores the rest.",
        )
    return losses


def _expected(target: Target, plan: Plan, before: State) -> State:
    # A log is written byte for byte, so its state is that of the backup.
    if plan.records is not None and target.is_log:
        return plan.state
    unfinished = target.unfinished(before)
    finished = {
        name: mode for name, mode in before.modes.items() if name not in unfinished or name not in _subjects(plan)
    }
    return merged(replace(before, modes=finished), target.storable(plan.state))


def _subjects(plan: Plan) -> frozenset[str]:
    return frozenset(subject for subject, _ in plan.state.versions)


def _notes(reading: Reading, target: Target) -> tuple[str, ...]:
    passed_over = (
        f"{plural(count, 'record')} of {reading.origin.name} could not be read by a registry: {reason}"
        for reason, count in sorted(reading.state.passed_over.items())
    )
    return (*reading.remarks, *passed_over, *not_shown(target.name, target.withheld))
