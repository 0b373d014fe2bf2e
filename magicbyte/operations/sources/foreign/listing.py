"""What a registry lists: its contexts, subjects, and their versions with and without the deleted ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from magicbyte.operations.failures import Unreachable
from magicbyte.operations.registry_end import LACKING, RegistryEnd
from registry.state.model import DEFAULT_CONTEXT
from serdes.client.requester import Query, path
from serdes.error import RegistryError

NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Listed:
    """A subject as it is listed.

    Attributes:
        live: The versions that are not deleted.
        deleted: The soft-deleted ones.
    """

    live: frozenset[int]
    deleted: frozenset[int]


def found(end: RegistryEnd, target: str, query: Query | None = None) -> Any:
    """The JSON of a GET's answer; None if there is no such thing, or the server lacks the endpoint.

    Raises:
        Unreachable: The registry does not answer, or refuses the client.
        RegistryError: It refuses the request.
    """
    try:
        return end.call("GET", target, query)
    except RegistryError as error:
        if error.status in LACKING:
            return None
        raise


def contexts_of(end: RegistryEnd) -> list[str]:
    """The contexts; the default one alone if the registry knows no contexts."""
    names = found(end, "/contexts")
    return sorted({DEFAULT_CONTEXT, *(str(name) for name in names or ())})


def listing_of(end: RegistryEnd, contexts: Iterable[str], pool: Executor) -> Mapping[str, Listed]:
    """The subjects of all contexts in wire form, with their versions."""
    queries: list[Query] = [{"deleted": True}]
    queries += [{"deleted": True, "subjectPrefix": f":{name}:"} for name in contexts if name != DEFAULT_CONTEXT]
    subjects = {str(name) for query in queries for name in _subjects(end, query)}

    def listed(subject: str) -> tuple[str, Listed]:
        target = path("subjects", subject, "versions")
        every = frozenset(map(int, found(end, target, {"deleted": True}) or ()))
        live = frozenset(map(int, found(end, target) or ()))
        return subject, Listed(live, every - live)

    # A subject without versions was deleted between the two requests.
    return {name: versions for name, versions in pool.map(listed, sorted(subjects)) if versions.live | versions.deleted}


def _subjects(end: RegistryEnd, query: Query) -> Iterable[object]:
    names = found(end, "/subjects", query)
    if names is None:
        # Not an empty registry: a copy of this would lose all subjects.
        raise Unreachable(
            f"{end.name} has no /subjects: it is no schema registry, its path is another one, or it is away and "
            "something before it answers"
        )
    return list(names)
