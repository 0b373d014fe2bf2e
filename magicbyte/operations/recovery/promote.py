"""Promoting a standby registry: it takes writes from now on, and gives no id that the lost source may have given."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from magicbyte.kit.failure import Failure
from magicbyte.operations.failures import Refused, Unreachable, Withheld
from magicbyte.operations.mirror.mark import PROMOTED, PROMOTING, Mark, settings_name
from magicbyte.operations.mirror.naming import Placed, placed
from magicbyte.operations.mirror.origin import Origin
from magicbyte.operations.mirror.plan import Line, Plan, Scope, plan_changes
from magicbyte.operations.mirror.target import Copy, Target
from magicbyte.operations.mirror.target_state import TargetState, subjects_of
from registry.feed.export import GLOBAL_SETTINGS
from registry.state.model import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    MAX_VERSION,
    MODES,
    SubjectName,
    context_of,
    parse_subject,
)
from registry.state.resolve import GLOBAL_SUBJECT, settings_key

_READWRITE = "READWRITE"


@dataclass(slots=True)
class Promotion:
    """The result of a promotion.

    Attributes:
        source: The name of the mirror's source.
        state: `promoted` now, `before` if it was promoted earlier, `refused` because of differences.
        lag_seconds: How long before the promotion the target was last known to be what the source was.
        source_answers: Whether the source was asked and answered.
        differences: What the target lacks or has too much, each a sentence.
        contexts: Context -> the highest ids in the source (None if it was not asked) and the target, and the new mark.
            The global context stands for those that have given no id.
        modes: Subject or context -> the mode that it got; None for the mode of its context or of the server.
    """

    source: str
    state: str = "promoted"
    lag_seconds: float = 0.0
    source_answers: bool = False
    differences: list[str] = field(default_factory=list)
    contexts: dict[str, dict[str, int | None]] = field(default_factory=dict)
    modes: dict[str, str | None] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The report as a JSON value."""
        return {
            "source": self.source,
            "state": self.state,
            "lagSeconds": round(self.lag_seconds, 3),
            "sourceAnswers": self.source_answers,
            "differences": self.differences,
            "contexts": self.contexts,
            "modes": self.modes,
        }


def promote(
    target: Target,
    source: Origin | None,
    *,
    root: str | None = DEFAULT_CONTEXT,
    id_gap: int = 10_000,
    force: bool = False,
    tell: Callable[[str], None] = lambda _text: None,
) -> Promotion:
    """Let a standby registry take writes; a mirror that still runs is refused from then on.

    Args:
        target: The standby registry.
        source: The mirror's source, to compare with if it answers; None if it is lost.
        root: The context of the mirror; None for the only one that the target has.
        id_gap: By how much the mark of each context is raised.
        force: Promote although the target is not what the source is.
        tell: Writes a line of progress.

    Raises:
        Unreachable: The target does not answer.
        Refused: The source refuses the client.
        Failure: No mirror writes into the target, or there are not enough ids left.
    """
    copy = target.read()
    roots = sorted(copy.marks)
    root = roots[0] if root is None and len(roots) == 1 else root
    epoch, mark = (0, None) if root is None else copy.mark(root)
    if root is None or mark is None:
        where = "" if root is None else f"into context {root} of "
        known = f"there are mirrors of --context {', '.join(roots)}" if roots else "there is nothing to promote"
        raise Failure(f"{'which mirror: ' if root is None else f'no mirror has written {where}'}{target.name}: {known}")
    promotion = Promotion(mark.source, lag_seconds=max(time.time() - mark.changed / 1000, 0.0))
    if mark.state == PROMOTED:
        promotion.state = "before"
        promotion.contexts = {name: {"mark": raised} for name, raised in mark.targets.items()}
        return promotion
    if mark.offset is None and not force:
        raise Failure(
            f"{target.name} is not a whole copy of {mark.source}: its first full sync has not ended. Promote it with "
            "--force if there is no better copy"
        )
    ids = _compared(copy, mark, source, promotion, tell)
    if promotion.differences and not force:
        promotion.state = "refused"
        return promotion
    # From here on the mirror, and an earlier promotion that may still run, are refused.
    epoch += 1
    mark = replace(mark, state=PROMOTING, writer=uuid.uuid4().hex)
    target.write(root, epoch, (), mark)
    copy = target.read()
    if not mark.targets:
        mark = replace(mark, targets=_targets(copy, mark, ids, id_gap))
        target.write(root, epoch, (), mark)
    for context, raised in mark.targets.items():
        highest = copy.state.contexts[context].highest_id if context in copy.state.contexts else 0
        promotion.contexts[context] = {"source": ids.get(context), "target": highest, "mark": raised}
    marks = [
        {"kind": "context", "context": name, "listed": False, "maxId": raised}
        for name, raised in mark.targets.items()
        if raised
    ]
    modes = _modes(copy, mark, promotion)
    done = replace(mark, state=PROMOTED, promoted=int(time.time() * 1000))
    target.write(root, epoch, [*marks, *modes], done)
    return promotion


def _compared(
    copy: Copy, mark: Mark, source: Origin | None, promotion: Promotion, tell: Callable[[str], None]
) -> Mapping[str, int]:
    """The highest ids of the source by the target's contexts, if it answers; notes what differs."""
    if source is None:
        return {}
    try:
        seen = source.read()
    except (Refused, Withheld):
        # It is alive, and nobody knows what it has: two registries would take writes.
        raise
    except Unreachable as error:
        tell(f"the source is not compared: {error}")
        return {}
    promotion.source_answers = True
    part = placed(seen.state, mark.naming, mark.closure)
    plan = planned(copy, mark, part)
    promotion.differences += [*plan.conflicts, *map(_difference_text, plan.lines)]
    return {name: context.highest_id for name, context in part.state.contexts.items()}


def planned(copy: Copy, mark: Mark, part: Placed) -> Plan:
    """Plan the changes with which a mirror would bring a target to a state of the source."""
    held = TargetState(copy.state)
    contexts = part.contexts.union(mark.contexts)
    names = held.subjects() | {name for name, _ in part.state.versions}
    names |= subjects_of(part.state.configs, part.state.modes)

    def is_mirrored(name: str) -> bool:
        origin = mark.naming.origin(name)
        chosen = origin is not None and (mark.naming.is_chosen(origin) or origin in part.subjects)
        return chosen and context_of(name) in contexts

    subjects = frozenset(name for name in names if is_mirrored(name))
    scope = Scope(subjects, contexts, settings=not mark.naming.patterns, deletes=mark.deletes)
    return plan_changes(part.state, held, scope)


def _difference_text(line: Line) -> str:
    if line["kind"] == "schema":
        return f"{line['subject']} version {line['version']} with id {line['id']} is not so in the target"
    if line["kind"] == "context":
        return f"context {line['context']} has given ids up to {line['maxId']} in the source"
    name = line.get("subject") or line.get("context") or "the registry"
    if line["kind"] == "removal" and line["of"] == "schema":
        return f"{name} version {line['version']} is not in the source"
    return f"the {line.get('of', line['kind'])} of {name} differs"


def _targets(copy: Copy, mark: Mark, ids: Mapping[str, int], id_gap: int) -> dict[str, int]:
    targets: dict[str, int] = {}
    # A lost source may have made contexts that the target never saw: new ones begin above the global context's mark.
    for name in sorted({*mark.contexts, GLOBAL_CONTEXT}):
        known = copy.state.contexts.get(name)
        highest = max(0 if known is None else known.highest_id, ids.get(name, 0))
        if highest + id_gap > MAX_VERSION:
            raise Failure(
                f"context {name} has given ids up to {highest}: there is no room for a gap of {id_gap}. Use a smaller "
                "--id-gap"
            )
        targets[name] = highest + id_gap
    return targets


def _modes(copy: Copy, mark: Mark, promotion: Promotion) -> list[Line]:
    """The modes of the source, but the root context always takes writes."""
    root = settings_name(settings_key(str(SubjectName(mark.naming.root, ""))))
    names = {settings_name(settings_key(str(SubjectName(context, "")))) for context in mark.contexts}
    lines: list[Line] = []
    for name in sorted({*names, *mark.modes}):
        mode = mark.modes.get(name)
        if name == root:
            # Without a mode of its own it has the global context's.
            effective = mode or mark.modes.get(GLOBAL_SUBJECT, _READWRITE)
            mode = mode if MODES[effective].takes_registrations else _READWRITE
        promotion.modes[name] = mode
        subject = {} if name == GLOBAL_SETTINGS else {"subject": name}
        key = None if name == GLOBAL_SETTINGS else name
        if mode is not None:
            lines.append({"kind": "mode", **subject, "mode": mode})
        elif key in copy.state.modes and not (key is not None and parse_subject(key).name):
            lines.append({"kind": "removal", "of": "mode", **subject})
    return lines
