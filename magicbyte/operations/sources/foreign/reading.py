"""Reads the whole state of a registry that has no export, and reads again what changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from magicbyte.kit.failure import Failure
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.servers import recognize
from magicbyte.operations.sources.foreign.ids import by_their_ids, highest_ids
from magicbyte.operations.sources.foreign.listing import NOT_FOUND, Listed, contexts_of, found, listing_of
from magicbyte.operations.sources.foreign.settings import Settings, read_settings
from magicbyte.operations.sources.port import Origin, Reading
from magicbyte.operations.state import ContextState, State
from registry.state import records
from registry.state.model import Version, context_of
from registry.state.records import Key, Undecodable
from serdes.client.requester import path
from serdes.error import RegistryError

#: How many requests are on their way at a time.
_REQUESTS = 16
#: How often a request is repeated that is refused as too many, or fails for a moment.
_REPEATS = 8
#: How often what changed is read again.
_ROUNDS = 10
_NO_TIMES = "the registry does not tell when versions were registered; they have the time 0"
_NO_MARKS = (
    "the registry does not tell the highest id that it has given ({contexts}): the ids of schemas that were deleted "
    "for good may be given again in a copy"
)


@dataclass(slots=True)
class _Progress:
    """What has been read so far."""

    listing: Mapping[str, Listed] = field(default_factory=dict)
    versions: dict[tuple[str, int], Version] = field(default_factory=dict)
    lacks_times: bool = False


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
        changed = [name for name in {**progress.listing, **listing} if progress.listing.get(name) != listing.get(name)]
        if not changed and progress.listing:
            break
        progress.listing = listing
        _read_versions(end, pool, progress, changed)
        if not listing:
            break
    else:
        raise Failure(f"{end.name} changes faster than it can be read: back it up when less is registered")
    settings = read_settings(end, pool, contexts, progress.listing)
    return _reading(end, pool, contexts, progress, settings)


def _read_versions(end: RegistryEnd, pool: Executor, progress: _Progress, subjects: Iterable[str]) -> None:
    """Read all versions of subjects, and forget the versions of them that were read before."""
    names = set(subjects)
    for identity in [identity for identity in progress.versions if identity[0] in names]:
        del progress.versions[identity]
    wanted = [
        (name, number)
        for name in sorted(names & progress.listing.keys())
        for number in sorted(progress.listing[name].live | progress.listing[name].deleted)
    ]
    for answer, version in pool.map(lambda one: _version(end, *one), wanted):
        # A version that was deleted meanwhile changes the next listing.
        if version is not None:
            is_deleted = version.number in progress.listing[version.subject].deleted
            progress.versions[version.subject, version.number] = replace(version, deleted=is_deleted)
            progress.lacks_times |= type(answer.get("ts")) is not int


def _version(end: RegistryEnd, subject: str, number: int) -> tuple[Mapping[str, Any], Version | None]:
    try:
        answer = end.call("GET", path("subjects", subject, "versions", number), {"deleted": True})
    except RegistryError as error:
        if error.status == NOT_FOUND:
            return {}, None
        raise
    try:
        time = answer.get("ts")
        key = Key(records.SCHEMA, subject, number)
        return answer, records.decode_version(key, answer, time if type(time) is int else 0)
    except (Undecodable, AttributeError) as error:
        raise Failure(f"{end.name}: version {number} of {subject} cannot be read: {error}") from None


def _reading(
    end: RegistryEnd, pool: Executor, contexts: Iterable[str], progress: _Progress, settings: Settings
) -> Reading:
    versions = progress.versions
    names = {*contexts, *(context_of(subject) for subject, _ in versions)}
    marks = highest_ids(end, versions.values())
    states = {name: ContextState(listed=True, highest_id=marks.get(name, (0, True))[0]) for name in names}
    unmarked = sorted(name for name, (_, is_told) in marks.items() if not is_told)
    corrected, unlike = by_their_ids(end, pool, versions.values())
    versions.update(corrected)
    notes = [*settings.notes, *unlike]
    if progress.lacks_times and versions:
        notes.append(_NO_TIMES)
    if unmarked:
        notes.append(_NO_MARKS.format(contexts=", ".join(unmarked)))
    server = recognize(end)
    origin = Origin(end.name, server.vendor, server.version, None, _cluster_ids(end), settings.defaults)
    return Reading(State(states, dict(versions), settings.configs, settings.modes), origin, tuple(notes))


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
