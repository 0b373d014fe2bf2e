"""The lists of a registry: its contexts, subjects, and their versions with and without the deleted ones.

The server may cut lists at a limit (`subject.search.default.limit` and others), so this reads them page by page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeVar

from magicbyte.operations.failures import Unreachable
from magicbyte.operations.registry_end import LACKING, RegistryEnd
from registry.state.model import DEFAULT_CONTEXT
from serdes.client.requester import Query, path
from serdes.error import RegistryError

T = TypeVar("T")

NOT_FOUND = 404
#: The code of a registry that knows no such subject. Another 404 is of a server that does not know the path.
_SUBJECT_NOT_FOUND = 40401
#: Statuses of a server that does not take `offset`.
_UNPAGED = frozenset({400, 404, 405, 422, 501})


@dataclass(frozen=True, slots=True)
class Listed:
    """A subject as it is listed.

    Attributes:
        live: The versions that are not deleted.
        deleted: The soft-deleted ones.
        is_known: Whether the registry answers for its versions; it may say that it has none.
    """

    live: frozenset[int]
    deleted: frozenset[int]
    is_known: bool = True

    @property
    def every(self) -> frozenset[int]:
        """The versions, also the soft-deleted ones."""
        return self.live | self.deleted


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
    names = found(end, "/contexts") or []
    return sorted({DEFAULT_CONTEXT, *map(str, names), *map(str, _next_pages(end, "/contexts", {}, names))})


def listing_of(end: RegistryEnd, contexts: Iterable[str], pool: Executor) -> Mapping[str, Listed]:
    """The subjects of all contexts in wire form, with their versions."""
    queries: list[Query] = [{"deleted": True}]
    queries += [{"deleted": True, "subjectPrefix": f":{name}:"} for name in contexts if name != DEFAULT_CONTEXT]
    subjects = set[str]()
    for query in queries:
        names = _subjects(end, query)
        subjects |= {*map(str, names), *map(str, _next_pages(end, "/subjects", query, names))}
    listing = dict(zip(sorted(subjects), pool.map(lambda name: _listed(end, name), sorted(subjects)), strict=True))
    longest = max(listing, key=lambda name: len(listing[name].every), default="")
    # A limit holds for all subjects: if the longest list is whole, each is.
    if longest and _all_pages(end, longest, listing[longest]) != listing[longest]:
        pages = pool.map(lambda item: _all_pages(end, *item), listing.items())
        listing = dict(zip(listing, pages, strict=True))
    return listing


def _subjects(end: RegistryEnd, query: Query) -> list[object]:
    try:
        # An empty server of AxonOps answers null.
        return list(end.call("GET", "/subjects", query) or ())
    except RegistryError as error:
        if error.status not in LACKING:
            raise
        # Not an empty registry: a copy of this would lose all subjects.
        raise Unreachable(
            f"{end.name} has no /subjects: it is no schema registry, its path is another one, or it is away and "
            "something before it answers"
        ) from None


def _listed(end: RegistryEnd, subject: str) -> Listed:
    every, is_known = _versions(end, subject, {"deleted": True})
    live, _ = _versions(end, subject, {}) if every or not is_known else (every, True)
    return Listed(live, every - live, is_known or bool(live))


def _all_pages(end: RegistryEnd, subject: str, first: Listed) -> Listed:
    target = path("subjects", subject, "versions")
    every = first.every | set(map(int, _next_pages(end, target, {"deleted": True}, sorted(first.every))))
    live = first.live | set(map(int, _next_pages(end, target, {}, sorted(first.live))))
    return Listed(live, every - live, first.is_known)


def _versions(end: RegistryEnd, subject: str, query: Query) -> tuple[frozenset[int], bool]:
    try:
        return frozenset(map(int, end.call("GET", path("subjects", subject, "versions"), query) or ())), True
    except RegistryError as error:
        if error.status not in LACKING:
            raise
        return frozenset(), error.code == _SUBJECT_NOT_FOUND


def _next_pages(end: RegistryEnd, target: str, query: Query, first: Collection[T]) -> list[T]:
    """Return the items after the first page of a list.

    A server that ignores `offset` answers with the first page again, which ends the list.
    """
    known, more = set(first), list[T]()
    while known:
        try:
            page = end.call("GET", target, {**query, "offset": len(known)}) or ()
        except RegistryError as error:
            if error.status in _UNPAGED:
                break
            raise
        new = [item for item in page if item not in known]
        if not new:
            break
        known.update(new)
        more += new
    return more
