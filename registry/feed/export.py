"""Exports: JSON lines that hold a whole registry with its ids, versions and settings; written, checked and read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import orjson

from magicbyte import __version__
from registry import errors
from registry.decide import Line
from registry.state.identity import guid_of
from registry.state.json_text import load_json
from registry.state.line_kinds import CLOSING, MANIFEST, MIRRORED
from registry.state.listed_versions import ListedVersions
from registry.state.lookup import named
from registry.state.model import ALL_CONTEXTS, DEFAULT_CONTEXT, Version, context_of
from registry.state.records import content_extras
from registry.state.view import View

#: Exports of format 1 have no lines about contexts.
FORMAT_VERSION = 2
#: The global settings, among the names of an export.
GLOBAL_SETTINGS = f":{DEFAULT_CONTEXT}:"
#: How many lines, and about how many bytes, are imported at once; other writers wait meanwhile.
_LINES_IN_BATCH = 200
_BYTES_IN_BATCH = 1 << 22


def export_lines(
    view: View,
    prefix: str = ":*:",
    *,
    deleted: bool = True,
    may_see_settings: Callable[[str | None], bool] | None = None,
    may_see_highest_id: Callable[[str], bool] | None = None,
    names: Collection[str] | None = None,
    log_id: str = "",
    partial: bool = False,
) -> Iterator[bytes]:
    """Yield a manifest, contexts, versions (each after those that it refers to), configs, modes, and a closing line.

    Between configs and modes of the whole registry are the marks of the mirrors that write into it. All lines are of
    the moment at which the first one is asked for.

    Args:
        view: The state to export.
        prefix: The prefix of the subjects to export; `:*:` for all.
        deleted: Include soft-deleted versions.
        may_see_settings: Returns whether to export the config and mode of a subject or context, or for None the global
            ones. By default all are exported.
        may_see_highest_id: Returns whether to export the line of a context. By default all are exported.
        names: Subjects and contexts' settings in wire form: only they are exported, and their contexts; `:.:` stands
            for the global settings. By default all are; an empty collection has none.
        log_id: The id of the log for the manifest; empty for none.
        partial: Say in the manifest that subjects are hidden.
    """
    digest = hashlib.sha256()
    count = 0
    for value in _values(
        view,
        prefix,
        deleted=deleted,
        may_see_settings=may_see_settings or _everything,
        may_see_highest_id=may_see_highest_id or _everything,
        only=None if names is None else frozenset(names),
        log_id=log_id,
        partial=partial,
    ):
        line = orjson.dumps(value) + b"\n"
        digest.update(line)
        count += 1
        yield line
    yield orjson.dumps({"kind": CLOSING, "lines": count, "sha256": digest.hexdigest()}) + b"\n"


def _everything(_subject: str | None) -> bool:
    return True


def _values(
    view: View,
    prefix: str,
    *,
    deleted: bool,
    may_see_settings: Callable[[str | None], bool],
    may_see_highest_id: Callable[[str], bool],
    only: frozenset[str] | None,
    log_id: str,
    partial: bool,
) -> Iterator[dict[str, Any]]:
    def chosen(names: Iterable[str]) -> list[str]:
        return named(names if only is None else [name for name in names if name in only], prefix)

    with view.still:
        manifest = {"kind": MANIFEST, "format": FORMAT_VERSION, "magicbyte": __version__, "offset": view.offset}
        subjects = chosen(view.subjects()) if only is None else sorted(name for name in only if view.versions(name))
        versions = [stored for name in subjects for stored in view.versions(name) if deleted or not stored.deleted]
        covered = _contexts(view, prefix)
        if only is not None:
            of_names = {context_of(name) for name in only}
            covered = [context for context in covered if context in of_names]
        contexts = [context_value(view, context) for context in covered if may_see_highest_id(context)]
        lacks_settings = not all(map(may_see_settings, _with_settings(view, prefix)))
        with_global = prefix in ("", ALL_CONTEXTS) and (only is None or GLOBAL_SETTINGS in only)
        sees_global = with_global and may_see_settings(None)
        settings = list(
            _settings(
                view,
                [name for name in chosen(view.configured()) if may_see_settings(name)],
                [name for name in chosen(view.with_modes()) if may_see_settings(name)],
                with_global=sees_global,
                with_mirrors=sees_global and only is None,
            )
        )
    if log_id:
        manifest["logId"] = log_id
    if partial:
        manifest["partial"] = True
    # An import warns of it.
    if not {context_of(subject) for subject in subjects} <= {line["context"] for line in contexts}:
        manifest["lacksContexts"] = True
    if lacks_settings:
        manifest["lacksSettings"] = True
    yield manifest
    # First, so that a registration between two batches of an import gets no id that a later batch brings.
    yield from contexts
    for version in in_order(versions):
        yield version_value(version)
    yield from settings


def _settings(
    view: View, configured: Iterable[str], with_modes: Iterable[str], *, with_global: bool, with_mirrors: bool
) -> Iterator[dict[str, Any]]:
    """The lines of settings; the global ones come last."""
    for name in configured:
        config = view.config(name)
        if config is not None:
            yield {"kind": "config", "subject": name, "config": config.to_json()}
    if with_mirrors:
        for context, mark in view.mirrors().items():
            yield {"kind": MIRRORED, "context": context, "epoch": mark.epoch, "value": mark.value}
    for name in with_modes:
        mode = view.mode(name)
        if mode is not None:
            yield {"kind": "mode", "subject": name, "mode": mode}
    config, mode = view.config(None), view.mode(None)
    if with_global and config is not None:
        yield {"kind": "config", "config": config.to_json()}
    if with_global and mode is not None:
        yield {"kind": "mode", "mode": mode}


def _with_settings(view: View, prefix: str) -> Iterator[str | None]:
    """The subjects and contexts that a prefix covers and that have settings; None for the global ones."""
    yield from named(view.configured(), prefix)
    yield from named(view.with_modes(), prefix)
    if prefix in ("", ALL_CONTEXTS) and (view.config(None) is not None or view.mode(None) is not None):
        yield None


def _contexts(view: View, prefix: str) -> list[str]:
    """The contexts that a prefix covers, as far as they exist or have given ids."""
    contexts = sorted({*view.contexts(), *view.contexts_with_ids()})
    return contexts if prefix.startswith(ALL_CONTEXTS) else [name for name in contexts if name == context_of(prefix)]


def context_value(view: View, context: str) -> dict[str, Any]:
    """The export line of a context: whether it is listed, and the highest id that it has ever given, 0 for none.

    Without that id, a copy would give the ids of schemas that were deleted to other schemas.
    """
    listed = context == DEFAULT_CONTEXT or context in view.contexts()
    return {"kind": "context", "context": context, "listed": listed, "maxId": view.highest_id(context)}


def version_value(version: Version) -> dict[str, Any]:
    """The export line of a version, as JSON values."""
    content = version.content
    return {
        "kind": "schema",
        "subject": version.subject,
        "version": version.number,
        "id": version.schema_id,
        "guid": guid_of(content),
        "schemaType": content.schema_type,
        **content_extras(content),
        "schema": content.text,
        "deleted": version.deleted,
        "ts": version.timestamp,
    }


def in_order(versions: list[Version]) -> Iterator[Version]:
    """Yield the versions by context and id, but after the versions that they refer to; cycles do no harm."""
    listed = ListedVersions(versions)
    done: set[tuple[str, int]] = set()
    for first in sorted(versions, key=lambda version: (context_of(version.subject), version.schema_id, version.number)):
        stack = [(first, False)]
        while stack:
            version, ready = stack.pop()
            identity = (version.subject, version.number)
            if ready:
                yield version
            elif identity not in done:
                done.add(identity)
                stack.append((version, True))
                for reference in reversed(version.content.references):
                    target = listed.target(version, reference)
                    if target is not None:
                        stack.append((target, False))


def check_lines(lines: Iterable[bytes], *, closed: bool) -> None:
    """Check that lines are objects, and that an export is complete.

    Args:
        lines: The lines, with their line breaks.
        closed: Require the closing line of an export, and check the count and SHA-256 of the lines before it. If it is
            False, the lines may be written by hand, and a closing line is ignored.

    Raises:
        ApiError: 400.
    """
    digest, count, last = hashlib.sha256(), 0, 0
    closing: Mapping[str, Any] | None = None
    for number, raw in enumerate(lines, 1):
        line = _object(number, raw)
        last = number if line is not None else last
        if closing is not None and line is not None:
            raise errors.INVALID_PARAMETER(detail=f"line {number} comes after the closing line, which must be the last")
        if closed and line is not None and line.get("kind") == CLOSING:
            closing = line
        elif closing is None:
            digest.update(raw)
            count += line is not None
    if not closed:
        return
    if closing is None:
        raise errors.INVALID_PARAMETER(
            detail=f"the closing line is missing: the export was cut after line {last}. Export again, or send lines "
            "that were written by hand with ?lines=true"
        )
    if closing.get("lines") != count:
        raise errors.INVALID_PARAMETER(
            detail=f"the closing line counts {closing.get('lines')} lines, but {count} came before it: the export is "
            "not whole"
        )
    if closing.get("sha256") != digest.hexdigest():
        raise errors.INVALID_PARAMETER(
            detail=f"the SHA-256 of the lines is {digest.hexdigest()}, but the closing line says "
            f"{closing.get('sha256')}: the export was changed. Send lines that were edited by hand with ?lines=true"
        )


def parsed_lines(lines: Iterable[bytes]) -> Iterator[tuple[Line, int]]:
    """Yield the lines that are not blank: number from 1, object, and length in bytes.

    Raises:
        ApiError: 400 if a line is not an object.
    """
    for number, raw in enumerate(lines, 1):
        line = _object(number, raw)
        if line is not None:
            yield (number, line), len(raw)


def batches(lines: Iterator[tuple[Line, int]]) -> Iterator[list[Line]]:
    """Group lines into batches, which are imported one at a time."""
    batch, size = list[Line](), 0
    for line, length in lines:
        batch.append(line)
        size += length
        if len(batch) == _LINES_IN_BATCH or size >= _BYTES_IN_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _object(number: int, raw: bytes) -> dict[str, Any] | None:
    """The object of a line; None if the line is blank."""
    if raw.isspace():
        return None
    try:
        value = load_json(raw)
    except orjson.JSONDecodeError as error:
        raise errors.INVALID_PARAMETER(detail=f"line {number} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise errors.INVALID_PARAMETER(detail=f"line {number} is not an object")
    return value
