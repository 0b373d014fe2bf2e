"""The results of restores and verifications: lines for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from magicbyte.kit.inert import inert_json, inert_lines
from magicbyte.kit.plural import plural
from magicbyte.operations.restore.conflicts import summary

if TYPE_CHECKING:
    from magicbyte.operations.comparison.difference import Comparison
    from magicbyte.operations.restore.restoring import Restored
    from magicbyte.operations.restore.verifying import Verified
    from magicbyte.operations.state import State

_CUT = "the file was cut: only what is left of it counts"


def restored_text(restored: Restored, source: str, target: str, *, is_cut: bool) -> str:
    """A restore in lines."""
    written = restored.written
    lines = [f"{source}: {_counts(restored.state)}"]
    lines += [f"left out: {conflict.sentence}" for conflict in restored.conflicts]
    lines += [f"left out: {sentence}" for sentence in restored.left_out]
    lines += [f"not held by the target: {loss.sentence}" for loss in restored.losses]
    lines += _remarks(restored.notes, is_cut=is_cut)
    if written is None:
        lines.append(f"{target}: a dry run, nothing is written")
    else:
        unit = written.unit.removesuffix("s")
        lines.append(f"{target}: {plural(written.written, unit)} written, {written.already_there:,} were there")
    lines += [f"RECORDS: {sentence}" for sentence in restored.unlike]
    if restored.comparison is not None:
        lines += _comparison(restored.comparison, "expected", "there")
    return _joined(lines)


def restored_json(restored: Restored, source: str, target: str, *, is_cut: bool) -> str:
    """A restore as a JSON object."""
    written = restored.written
    value = {
        "source": source,
        "target": target,
        "cut": is_cut,
        "dryRun": written is None,
        "restored": summary(restored.state),
        "written": None if written is None else {written.unit: written.written, "alreadyThere": written.already_there},
        "leftOut": [*(conflict.sentence for conflict in restored.conflicts), *restored.left_out],
        "losses": [{"kind": loss.kind, "text": loss.sentence} for loss in restored.losses],
        "notes": list(restored.notes),
        "unlikeRecords": list(restored.unlike),
        "verified": None if restored.comparison is None else _comparison_value(restored.comparison),
    }
    return _json(value)


def verified_text(verified: Verified, source: str, target: str, *, is_cut: bool) -> str:
    """A verification in lines."""
    lines = [f"{source}: {_counts(verified.state)}", *_remarks(verified.notes, is_cut=is_cut)]
    return _joined([*lines, f"{target}:", *_comparison(verified.comparison, "in the backup", "in the target")])


def verified_json(verified: Verified, source: str, target: str, *, is_cut: bool) -> str:
    """A verification as a JSON object."""
    value = {
        "source": source,
        "target": target,
        "cut": is_cut,
        "backup": summary(verified.state),
        "notes": list(verified.notes),
        "verified": _comparison_value(verified.comparison),
    }
    return _json(value)


def _counts(state: State) -> str:
    counts = summary(state)
    return (
        f"{plural(counts['versions'], 'version')} ({counts['deleted']:,} deleted) of "
        f"{plural(counts['subjects'], 'subject')} under {plural(counts['ids'], 'id')}, "
        f"{plural(counts['configs'], 'config')}, {plural(counts['modes'], 'mode')}"
    )


def _remarks(notes: Sequence[str], *, is_cut: bool) -> Iterator[str]:
    yield from (f"note: {note}" for note in notes)
    if is_cut:
        yield f"note: {_CUT}"


def _comparison(comparison: Comparison, left: str, right: str) -> Iterator[str]:
    yield from (f"{difference.code}: {difference.sentence}" for difference in comparison.differences)
    yield (
        f"{plural(comparison.left_versions, 'version')} {left}, {comparison.right_versions:,} {right}, "
        f"{comparison.same_versions:,} the same, {plural(len(comparison.differences), 'difference')}"
    )


def _comparison_value(comparison: Comparison) -> dict[str, Any]:
    return {
        "left": comparison.left_versions,
        "right": comparison.right_versions,
        "same": comparison.same_versions,
        "counts": dict(comparison.counts),
        "differences": [difference.to_json() for difference in comparison.differences],
    }


def _joined(lines: Sequence[str]) -> str:
    return inert_lines("".join(f"{line}\n" for line in lines))


def _json(value: dict[str, Any]) -> str:
    return inert_json(json.dumps(value, indent=2, ensure_ascii=False)) + "\n"
