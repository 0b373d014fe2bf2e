"""Reads the whole state of a registry that has no export, and reads again what changed meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.servers import recognize
from magicbyte.operations.sources.foreign.ids import by_their_ids, highest_ids
from magicbyte.operations.sources.foreign.listing import NOT_FOUND, Listed, contexts_of, found, listing_of
from magicbyte.operations.sources.foreign.settings import Settings, read_settings
from magicbyte.operations.sources.port import Origin, Reading
from magicbyte.operations.state import ContextState, State
from registry.state import records
from registry.state.model import Version, context_of, parse_subject
from registry.state.records import Key, Undecodable
from serdes.client.requester import path
from serdes.error import RegistryError

#: How many requests are on their way at a time.
_REQUESTS = 16
#: How often a request is repeated that is refused as too many, or fails for a moment.
_REPEATS = 8
#: How often what changed is read again.
_ROUNDS = 10
#: How many versions are named in a sentence.
_NAMED = 5
_NO_TIMES = "the registry does not tell when versions were registered; they have the time 0"
_NO_MARKS = (
    "the registry does not tell the highest id that it has given ({contexts}): the ids of schemas that were deleted "
    "for good may be given again in a copy"
)


@dataclass(slots=True)
class _Progress:
    """The progress of a reading.

    Attributes:
        listing: What is listed.
        versions: What was read of it.
        unread: Subject and version, or None for all of its versions -> why it is listed, but was not read.
        lacks_times: Whether a version came without the time of its registration.
        is_read_again: Whether what was not read was asked for a second time.
    """

    listing: Mapping[str, Listed] = field(default_factory=dict)
    versions: dict[tuple[str, int], Version] = field(default_factory=dict)
    unread: dict[tuple[str, int | None], str] = field(default_factory=dict)
    lacks_times: bool = False
    is_read_again: bool = False


@dataclass(frozen=True, slots=True)
class _Answer:
    """A version, and whether the registry told when it was registered."""

    version: Version
    has_time: bool


def read_foreign(end: RegistryEnd) -> Reading:
    """Read a registry through Confluent's API.

    Raises:
        Failure: It changes faster than it can be read, or an answer is not what the API says.
        Unreachable: It does not answer, or refuses the client.
    """
    end.insist(_REPEATS)
    try:
        with ThreadPoolExecutor(_REQUESTS, "magicbyte-backup") as pool:
            return _read(end, pool)
    except RegistryError as error:
        raise Failure(f"{end.name} cannot be read: {error}") from None


def _read(end: RegistryEnd, pool: Executor) -> Reading:
    progress = _Progress()
    for _ in range(_ROUNDS):
        contexts = contexts_of(end)
        listing = listing_of(end, contexts, pool)
        changed = {name for name in {**progress.listing, **listing} if progress.listing.get(name) != listing.get(name)}
        # What could not be read was deleted meanwhile, and may have come back; if so, it can be read now.
        again = set() if progress.is_read_again else {name for name, _ in progress.unread} - changed
        if not changed and not again and progress.listing:
            break
        progress.is_read_again = bool(again)
        progress.listing = listing
        _read_versions(end, pool, progress, changed | again)
        if not listing:
            break
    else:
        raise Failure(f"{end.name} changes faster than it can be read: back it up when less is registered")
    settings = read_settings(end, pool, contexts, progress.listing)
    return _reading(end, pool, contexts, progress, settings)


def _read_versions(end: RegistryEnd, pool: Executor, progress: _Progress, names: Collection[str]) -> None:
    """Read all versions of subjects, and forget the versions of them that were read before."""
    for identity in [identity for identity in progress.versions if identity[0] in names]:
        del progress.versions[identity]
    progress.unread = {place: fault for place, fault in progress.unread.items() if place[0] not in names}
    listed = sorted(names & progress.listing.keys())
    wanted = [(name, number) for name in listed for number in sorted(progress.listing[name].every)]
    progress.unread.update(
        {(name, None): "listed, but its versions are not" for name in listed if not progress.listing[name].is_known}
    )
    for (name, number), answer in zip(wanted, pool.map(lambda one: _version(end, *one), wanted), strict=True):
        if isinstance(answer, str):
            progress.unread[name, number] = answer
        else:
            is_deleted = number in progress.listing[name].deleted
            progress.versions[name, number] = replace(answer.version, deleted=is_deleted)
            progress.lacks_times |= not answer.has_time


def _version(end: RegistryEnd, subject: str, number: int) -> _Answer | str:
    """A version; what is wrong with the answer if it is not this version."""
    try:
        answer = end.call("GET", path("subjects", subject, "versions", number), {"deleted": True})
    except RegistryError as error:
        if error.status == NOT_FOUND:
            return "listed, but not found"
        raise
    try:
        told = (answer.get("subject"), answer.get("version"))
        if not _names_version(told, subject, number):
            return f"answered with version {told[1]} of {told[0]}"
        time = answer.get("ts")
        key = Key(records.SCHEMA, subject, number)
        version = records.decode_version(key, answer, time if type(time) is int else 0)
        return _Answer(version, has_time=type(time) is int)
    except (Undecodable, AttributeError) as error:
        raise Failure(f"{end.name}: version {number} of {subject} cannot be read: {error}") from None


def _names_version(told: tuple[Any, Any], subject: str, number: int) -> bool:
    """Tell whether an answer names the version that was asked for; an answer that names none is taken as this one."""
    names = (None, subject, parse_subject(subject).name)
    return told[0] in names and told[1] in (None, number)


def _withheld(unread: Mapping[tuple[str, int | None], str]) -> Iterator[str]:
    """Sentences about what is listed and could not be read, by its fault."""
    by_fault: dict[str, list[str]] = {}
    for (name, number), fault in sorted(unread.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
        by_fault.setdefault(fault, []).append(name if number is None else f"version {number} of {name}")
    for fault, named in by_fault.items():
        more = len(named) - _NAMED
        others = [f"and {plural(more, 'other')} like it"] if more > 0 else []
        yield f"{', '.join(named[:_NAMED] + others)} {'is' if len(named) == 1 else 'are'} {fault}"


def _reading(
    end: RegistryEnd, pool: Executor, contexts: Iterable[str], progress: _Progress, settings: Settings
) -> Reading:
    versions = progress.versions
    names = {*contexts, *(context_of(subject) for subject, _ in versions)}
    marks = highest_ids(end, versions.values())
    states = {name: ContextState(listed=True, highest_id=marks.get(name, (0, False))[0]) for name in names}
    # A question for the highest id needs an id of the context, so a context without schemas has no answer.
    unmarked = sorted(name for name in names if not marks.get(name, (0, False))[1])
    corrected, unlike = by_their_ids(end, pool, versions.values())
    versions.update(corrected)
    notes = [*settings.notes, *unlike]
    if progress.lacks_times and versions:
        notes.append(_NO_TIMES)
    if unmarked:
        notes.append(_NO_MARKS.format(contexts=", ".join(unmarked)))
    server = recognize(end)
    origin = Origin(end.name, server.vendor, server.version, None, _cluster_ids(end), settings.defaults)
    return Reading(
        State(states, dict(versions), settings.configs, settings.modes),
        origin,
        tuple(notes),
        tuple(_withheld(progress.unread)),
    )


def _cluster_ids(end: RegistryEnd) -> Mapping[str, str]:
    answer = _optional(end, "/v1/metadata/id")
    scope = answer.get("scope") if isinstance(answer, dict) else None
    clusters = scope.get("clusters") if isinstance(scope, dict) else None
    return {str(kind): str(value) for kind, value in clusters.items()} if isinstance(clusters, dict) else {}


def _optional(end: RegistryEnd, target: str) -> Any:
    """The JSON of an answer that only says more about the server."""
    try:
        return found(end, target)
    except RegistryError:
        return None
