"""The ids of a registry: what each stands for by `/schemas/ids`, and the highest one of each context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor

from magicbyte.kit.plural import plural
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.sources.foreign.listing import found
from registry.state import records
from registry.state.model import DEFAULT_CONTEXT, Content, Version, context_of
from registry.state.records import Key, Undecodable
from serdes.client.requester import Query, path

#: How many versions are named in a note.
_NAMED = 5


def unlike_their_ids(end: RegistryEnd, pool: Executor, versions: Iterable[Version]) -> list[str]:
    """Notes on versions whose content is not what readers get for their id."""
    by_id: dict[tuple[str, int], list[Version]] = {}
    for version in versions:
        by_id.setdefault((context_of(version.subject), version.schema_id), []).append(version)
    contents = pool.map(lambda one: _content(end, *one), by_id)
    missing, unlike = list[str](), list[str]()
    for holders, content in zip(by_id.values(), contents, strict=True):
        for version in holders:
            named = f"id {version.schema_id} (version {version.number} of {version.subject})"
            if content is None:
                missing.append(named)
            elif content != version.content:
                unlike.append(named)
    notes = [_note(unlike, "stands for another schema under /schemas/ids: one id means two things")]
    notes.append(_note(missing, "is not known under /schemas/ids, so its data cannot be read"))
    return [note for note in notes if note]


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
