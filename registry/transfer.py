"""Export: the whole registry as lines of JSON that an import takes, ids, versions and settings included."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import orjson

from magicbyte import __version__
from registry.identity import guid_of
from registry.model import Version, context_of, in_context, parse_subject
from registry.records import content_extras
from registry.view import View, named

FORMAT_VERSION = 1


def export_lines(view: View, prefix: str = ":*:", *, deleted: bool = True) -> Iterator[bytes]:
    """A manifest, each version behind those it refers to, configs and modes, and an end line with a checksum.

    Args:
        view: What to export.
        prefix: Subjects that begin so; `:*:` is all.
        deleted: Soft-deleted versions too.
    """
    digest = hashlib.sha256()
    count = 0
    for value in _values(view, prefix, deleted=deleted):
        line = orjson.dumps(value) + b"\n"
        digest.update(line)
        count += 1
        yield line
    yield orjson.dumps({"kind": "end", "lines": count, "sha256": digest.hexdigest()}) + b"\n"


def _values(view: View, prefix: str, *, deleted: bool) -> Iterator[dict[str, Any]]:
    yield {"kind": "manifest", "format": FORMAT_VERSION, "magicbyte": __version__, "offset": view.offset}
    subjects = named(view.subjects(), prefix)
    versions = [each for name in subjects for each in list(view.versions(name)) if deleted or not each.deleted]
    for version in in_order(versions):
        yield version_value(version)
    wanted = prefix in ("", ":*:")
    for name in named(view.configured(), prefix):
        config = view.config(name)
        if config is not None:
            yield {"kind": "config", "subject": name, "config": config.to_json()}
    for name in named(view.with_modes(), prefix):
        mode = view.mode(name)
        if mode is not None:
            yield {"kind": "mode", "subject": name, "mode": mode}
    config, mode = view.config(None), view.mode(None)
    if wanted and config is not None:
        yield {"kind": "config", "config": config.to_json()}
    if wanted and mode is not None:
        yield {"kind": "mode", "mode": mode}


def version_value(version: Version) -> dict[str, Any]:
    """The line of a version."""
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
    }


def in_order(versions: list[Version]) -> Iterator[Version]:
    """The versions by context and id, but each behind those that it refers to; a circle is cut where it is met."""
    by_name = {(each.subject, each.number): each for each in versions}
    done: set[tuple[str, int]] = set()
    for first in sorted(versions, key=lambda each: (parse_subject(each.subject).context, each.schema_id, each.number)):
        stack = [(first, False)]
        while stack:
            version, ready = stack.pop()
            identity = (version.subject, version.number)
            if ready:
                yield version
            elif identity not in done:
                done.add(identity)
                stack.append((version, True))
                context = context_of(version.subject)
                for reference in reversed(version.content.references):
                    target = by_name.get((in_context(context, reference.subject), reference.version))
                    if target is not None:
                        stack.append((target, False))
