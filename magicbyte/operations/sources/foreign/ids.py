"""The ids of a registry: what each stands for by `/schemas/ids`, and the highest one of each context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor

from msgspec.structs import replace

from compat.contracts.model import VERSION_PROPERTY, Metadata
from magicbyte.kit.plural import plural
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.sources.foreign.listing import found
from registry.state import records
from registry.state.model import DEFAULT_CONTEXT, Content, Version, context_of, kept_form
from registry.state.records import Key, Undecodable
from serdes.client.requester import Query, path

#: How many versions are named in a note.
_NAMED = 5


def by_their_ids(
    end: RegistryEnd, pool: Executor, versions: Iterable[Version]
) -> tuple[Mapping[tuple[str, int], Version], list[str]]:
    """Versions that only show their number beside what their id stands for, without it; notes on those that differ.

    AxonOps shows each version with the property `confluent:version`, which its ids lack. With it, two subjects whose
    versions share an id would have two contents of that id.
    """
    by_id: dict[tuple[str, int], list[Version]] = {}
    for version in versions:
        by_id.setdefault((context_of(version.subject), version.schema_id), []).append(version)
    contents = pool.map(lambda one: _content(end, *one), by_id)
    corrected: dict[tuple[str, int], Version] = {}
    missing, unlike = list[str](), list[str]()
    for holders, content in zip(by_id.values(), contents, strict=True):
        for version in holders:
            named = f"id {version.schema_id} (version {version.number} of {version.subject})"
            if content is None:
                missing.append(named)
            elif content == _without_number(version):
                corrected[version.subject, version.number] = replace(version, kept=kept_form(content))
            elif content != version.content:
                unlike.append(named)
    notes = [_note(unlike, "stands for another schema under /schemas/ids: one id means two things")]
    notes.append(_note(missing, "is not known under /schemas/ids, so its data cannot be read"))
    return corrected, [note for note in notes if note]


def _without_number(version: Version) -> Content:
    """The content without the property that says only the version's number."""
    content = version.content
    if content.metadata is None or content.metadata.properties.get(VERSION_PROPERTY) != str(version.number):
        return content
    metadata = content.metadata.without_property(VERSION_PROPERTY)
    return replace(content, metadata=metadata if metadata != Metadata() else None)


def _note(named: list[str], text: str) -> str:
    more = len(named) - _NAMED
    others = [f"and {plural(more, 'other')} like it"] if more > 0 else []
    return f"{', '.join(named[:_NAMED] + others)} {text}" if named else ""


def _content(end: RegistryEnd, context: str, schema_id: int) -> Content | None:
    answer = found(end, path("schemas", "ids", schema_id), _in_context(context))
    if not isinstance(answer, dict):
        return None
    try:
        key = Key(records.SCHEMA, "", 1)
        return records.decode_version(key, {**answer, "id": schema_id}, 0).content
    except Undecodable:
        return None


def highest_ids(end: RegistryEnd, versions: Iterable[Version]) -> Mapping[str, tuple[int, bool]]:
    """Context with versions -> the highest id known of it, and whether the registry told that it is the highest."""
    highest: dict[str, int] = {}
    for version in versions:
        context = context_of(version.subject)
        highest[context] = max(highest.get(context, 0), version.schema_id)
    marks: dict[str, tuple[int, bool]] = {}
    for context, known in highest.items():
        query = {**_in_context(context), "fetchMaxId": True}
        answer = found(end, path("schemas", "ids", known), query)
        told = answer.get("maxId") if isinstance(answer, dict) else None
        marks[context] = (max(known, told), True) if type(told) is int else (known, False)
    return marks


def _in_context(context: str) -> Query:
    return {} if context == DEFAULT_CONTEXT else {"subject": f":{context}:"}
