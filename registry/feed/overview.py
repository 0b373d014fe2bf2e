"""The overview of all subjects: a row for each, as columns."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from registry.state.lookup import named
from registry.state.model import Version, context_of
from registry.state.resolve import Origin, context_key, level_in_effect, mode_in_effect
from registry.state.view import View

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OverviewQuery:
    """The selection of rows.

    Attributes:
        prefix: The prefix of the subjects, as for `/subjects`.
        deleted: Include subjects whose versions are all soft-deleted.
        first: The index of the first row.
        most: How many rows are returned at most.
    """

    prefix: str
    deleted: bool
    first: int
    most: int


@dataclass(frozen=True, slots=True)
class Sight:
    """The parts of a subject that the reader may see besides its name and the numbers of its versions.

    Attributes:
        may_read: Tells whether it may read a subject's schemas.
        may_see_settings: Tells whether it may see a subject's settings.
    """

    may_read: Callable[[str], bool]
    may_see_settings: Callable[[str], bool]


_OF_SCHEMA = ("type", "id", "ts", "references")
_OF_SETTINGS = ("level", "ownLevel", "mode", "ownMode")
_COLUMNS = ("subject", "version", "versions", "deletedVersions", "deleted", *_OF_SCHEMA, *_OF_SETTINGS)
#: The schema or the settings of a subject for a reader that may not see them.
_HIDDEN = (None, None, None, None)
#: How many items are worked on before a pause, and its length in seconds.
_ITEMS_A_TURN, _PAUSE_SECONDS = 500, 0.0002


def overview(view: View, query: OverviewQuery, default_level: str, sight: Sight | None = None) -> dict[str, Any]:
    """The overview as a JSON object.

    Args:
        view: The state.
        query: The selection of rows.
        default_level: The server's compatibility level.
        sight: What the reader may see; None for everything.
    """
    # Read the offset first: a reader that follows the changes from there misses none.
    offset = view.offset
    selected = [
        (subject, versions, live)
        for subject in _in_turns(named(view.subjects(), query.prefix))
        if (versions := list(view.versions(subject)))
        and ((live := sum([not version.deleted for version in versions])) or query.deleted)
    ]
    settings = _Settings(view, default_level)
    rows = []
    for subject, versions, live in _in_turns(selected[query.first : query.first + query.most]):
        newest = versions[-1]
        if live and newest.deleted:
            newest = next(version for version in reversed(versions) if not version.deleted)
        of_schema = _of_schema(newest) if sight is None or sight.may_read(subject) else _HIDDEN
        of_settings = settings.of(subject) if sight is None or sight.may_see_settings(subject) else _HIDDEN
        rows.append((subject, newest.number, live, len(versions) - live, not live, *of_schema, *of_settings))
    columns = zip(*rows, strict=True) if rows else [()] * len(_COLUMNS)
    return {"offset": offset, "total": len(selected), **dict(zip(_COLUMNS, columns, strict=True))}


def head(listing: Mapping[str, Any], context: str, most: int) -> dict[str, Any]:
    """The first live rows of one context, in the form of the overview, with the context's counts.

    Args:
        listing: An overview.
        context: The context of the rows and counts.
        most: How many rows are returned at most.
    """
    deleted = listing["deleted"]
    places = [place for place, subject in enumerate(_in_turns(listing["subject"])) if context_of(subject) == context]
    live = [place for place in places if not deleted[place]]
    types = Counter(kind for place in live if (kind := listing["type"][place]) is not None)
    counts = {
        "subjects": len(live),
        "deleted": len(places) - len(live),
        "versions": sum([listing["versions"][place] for place in live]),
        "ownLevel": sum([bool(listing["ownLevel"][place]) for place in live]),
        "types": types,
    }
    columns = {name: [listing[name][place] for place in live[:most]] for name in _COLUMNS}
    return {"offset": listing["offset"], "total": listing["total"], "counts": counts, **columns}


def _in_turns(items: Iterable[T]) -> Iterator[T]:
    """Yield items, with a short pause after each turn.

    A thread that computes keeps the interpreter lock for 5 ms whenever the event loop wants it, so every answer would
    take that long. With a pause every millisecond, the answers of the event loop hardly wait.
    """
    for number, item in enumerate(items, 1):
        yield item
        if number % _ITEMS_A_TURN == 0:
            time.sleep(_PAUSE_SECONDS)


def _of_schema(version: Version) -> tuple[Any, ...]:
    written = version.timestamp if version.timestamp > 0 else None
    return version.schema_type, version.schema_id, written, len(version.references)


class _Settings:
    """The settings in effect; those that the subjects of a context inherit are looked up once."""

    def __init__(self, view: View, default_level: str) -> None:
        self._view = view
        self._default_level = default_level
        self._inherited: dict[str | None, tuple[Any, ...]] = {}

    def of(self, subject: str) -> tuple[Any, ...]:
        """The level and the mode of a subject, each with a flag: whether the subject itself sets it."""
        view = self._view
        if view.config(subject) is not None or view.mode(subject) is not None:
            return self._look_up(subject)
        context = context_key(subject)
        inherited = self._inherited.get(context)
        if inherited is None:
            inherited = self._inherited[context] = self._look_up(subject)
        return inherited

    def _look_up(self, subject: str) -> tuple[Any, ...]:
        level, set_at = level_in_effect(self._view, subject, self._default_level)
        mode, mode_set_at = mode_in_effect(self._view, subject)
        return level, set_at is Origin.SUBJECT, mode.name, mode_set_at is Origin.SUBJECT
