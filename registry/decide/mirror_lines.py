"""The lines of an import that only mirrors need: removals, and marks that fence mirrors which were replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from registry import errors
from registry.decide.decision import require_writable, tombstone, tombstones
from registry.log.port import Record
from registry.state import records
from registry.state.model import DEFAULT_CONTEXT, MirrorMark, SubjectName, context_of, in_bounds, parse_subject
from registry.state.records import Key, Undecodable
from registry.state.resolve import settings_key
from registry.state.view import View

_Removals = list[Record]
#: Before the first mirror of a context.
_NO_MARK = MirrorMark(0, {})


def require_epochs(view: View, lines: Iterable[Mapping[str, Any]]) -> None:
    """Check that each mirror that the lines name is still the one of its context.

    Several mirrors may have read the same epoch: the first to write the next one has it, by the `writer` of its mark.

    Raises:
        ApiError: 40990, the line is neither of the context's epoch and writer nor, with a value, of the next epoch.
    """
    marks = view.mirrors()
    for line in lines:
        context, epoch = line.get("context"), line.get("epoch")
        if line.get("kind") != "mirror" or not isinstance(context, str) or not in_bounds(epoch):
            continue
        mark = marks.get(context, _NO_MARK)
        value = line.get("value")
        writer = (value if isinstance(value, dict) else line).get("writer")
        is_known = epoch == mark.epoch and writer == mark.value.get("writer")
        if not is_known and (value is None or epoch != mark.epoch + 1):
            raise errors.MIRROR_FENCED(context=context, epoch=mark.epoch, asked=epoch)


def mark_records(view: View, now: int, line: Mapping[str, Any]) -> list[Record]:
    """The record of a mirror's mark; none if the line has no value, because it only names its epoch.

    Raises:
        Undecodable: The line lacks something.
    """
    context, epoch, value = line.get("context"), line.get("epoch"), line.get("value")
    if not isinstance(context, str) or context_of(str(SubjectName(context, ""))) != context:
        raise Undecodable(f"{context!r} is not a context")
    if not in_bounds(epoch) or not (value is None or isinstance(value, dict)):
        raise Undecodable("a mirror's mark needs an epoch from 1, and its value is an object")
    mark = None if value is None else MirrorMark(epoch, value)
    if mark is None or mark == view.mirrors().get(context):
        return []
    return [Record(view.key_bytes(Key(records.MIRROR, context)), records.encode_mirror(context, mark), now)]


def removal_records(view: View, now: int, line: Mapping[str, Any]) -> list[Record]:
    """The records that remove a version for good, a config, a mode, an empty context or a mirror's mark.

    There are none if it is not there.

    Raises:
        ApiError: 42205, 42206, 42211.
        Undecodable: The line does not say what to remove.
    """
    removed = line.get("of")
    remove = _REMOVALS.get(removed) if isinstance(removed, str) else None
    if remove is None:
        raise Undecodable(f"a removal is of {', '.join(_REMOVALS)}, not of {removed!r}")
    return remove(view, now, line)


def _version(view: View, now: int, line: Mapping[str, Any]) -> _Removals:
    subject, number = line.get("subject"), line.get("version")
    if not isinstance(subject, str) or not in_bounds(number):
        raise Undecodable("the removal of a schema needs a subject and a version")
    subject = str(parse_subject(subject))
    version = view.version(subject, number)
    if version is None:
        return []
    require_writable(view, subject)
    if view.referrers(subject, number):
        raise errors.REFERENCE_EXISTS(subject=subject, version=number)
    return tombstones(view, [version], now)


def _config(view: View, now: int, line: Mapping[str, Any]) -> _Removals:
    name = _settings_of(line)
    if view.config(name) is None:
        return []
    require_writable(view, name)
    return tombstone(view, Key(records.CONFIG, name), now)


def _mode(view: View, now: int, line: Mapping[str, Any]) -> _Removals:
    name = _settings_of(line)
    return [] if view.mode(name) is None else tombstone(view, Key(records.MODE, name), now)


def _context(view: View, now: int, line: Mapping[str, Any]) -> _Removals:
    context = line.get("context")
    if not isinstance(context, str):
        raise Undecodable("the removal of a context needs a context")
    if context == DEFAULT_CONTEXT or context not in view.contexts():
        return []
    if any(context_of(subject) == context for subject in view.subjects()):
        raise errors.CONTEXT_NOT_EMPTY(context=context)
    return tombstone(view, Key(records.CONTEXT, context), now)


def _mirror(view: View, now: int, line: Mapping[str, Any]) -> _Removals:
    context = line.get("context")
    if not isinstance(context, str):
        raise Undecodable("the removal of a mirror's mark needs a context")
    return [] if context not in view.mirrors() else tombstone(view, Key(records.MIRROR, context), now)


def _settings_of(line: Mapping[str, Any]) -> str | None:
    subject = line.get("subject")
    if subject is not None and not isinstance(subject, str):
        raise Undecodable("the removal of a setting needs a subject, or none for the global one")
    return None if subject is None else settings_key(str(parse_subject(subject)))


_REMOVALS: Mapping[str, Callable[[View, int, Mapping[str, Any]], _Removals]] = {
    "schema": _version,
    "config": _config,
    "mode": _mode,
    "context": _context,
    "mirror": _mirror,
}
