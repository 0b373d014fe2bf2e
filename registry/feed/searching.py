"""Searches: a thread scans the versions, and worker processes read the names in each text once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from magicbyte.kit.sharing.fair_queue import FairQueue
from registry.answering import Answering
from registry.feed.name_search import Hit, NameIndex, Query, TextKey, scan, text_key
from registry.feed.word_search import ShownHit, WordHit, WordQuery, scan_words, show
from registry.offload.jobs import Names
from registry.state.model import Version
from registry.state.view import View

#: The size of a job for a worker process: the total length of its texts, in characters, and their number.
_CHARACTERS_A_JOB = 500_000
_TEXTS_A_JOB = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WordsFound:
    """The result of a search for words.

    Attributes:
        total: How many versions match.
        counts: How many of them match in each place.
        hits: The requested part of them.
    """

    total: int
    counts: Mapping[str, int]
    hits: Sequence[ShownHit]


class Searching:
    """Finds versions, and keeps an index of the names in the schemas that it has read."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._index = NameIndex()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="search")
        #: Clients take turns for the thread, and for reading names.
        self._turns, self._reading = FairQueue(1), FairQueue(1)

    def close(self) -> None:
        """Start no more searches."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def search(self, view: View, query: Query, *, most: int, client: str) -> Sequence[Hit]:
        """The versions that match a query, by subject and number.

        Args:
            view: The state to search.
            query: The query.
            most: How many hits are enough.
            client: The client that searches.

        Raises:
            ApiError: 503 if all processes are busy.
        """
        read: dict[TextKey, Names] = {}
        while True:
            scanned = await self._on_thread(client, partial(scan, view, query, self._index, read, most=most))
            if not scanned.unread:
                return scanned.hits
            # The search keeps the names itself because the index may be too small for all of them.
            read |= await self._read(scanned.unread, client)

    async def search_words(self, view: View, query: WordQuery, *, first: int, end: int, client: str) -> WordsFound:
        """The versions that have all words in one of the places, by subject and number, and how many there are.

        Args:
            view: The state to search.
            query: The query.
            first: The index of the first hit to return.
            end: The index after the last hit to return.
            client: The client that searches.

        Raises:
            ApiError: 503 if all processes are busy.
        """
        read: dict[TextKey, Names] = {}
        while True:
            scan = await self._on_thread(client, partial(scan_words, view, query, self._index, read))
            if not scan.unread:
                break
            read |= await self._read(scan.unread, client)
        hits = scan.hits[first:end]
        # The names of the others do not matter: the words are in their subjects or texts.
        read |= await self._read([hit.version for hit in hits], client)
        shown = await self._on_thread(client, partial(self._show, hits, query, read))
        return WordsFound(len(scan.hits), scan.counts, shown)

    async def _on_thread(self, client: str, work: Callable[[], T]) -> T:
        async with self._turns.turn(client):
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _show(self, hits: Sequence[WordHit], query: WordQuery, read: Mapping[TextKey, Names]) -> list[ShownHit]:
        keys = [text_key(hit.version) for hit in hits]
        return [
            show(hit, self._index.get(key) or read.get(key) or Names(), query)
            for hit, key in zip(hits, keys, strict=True)
        ]

    async def _read(self, versions: Sequence[Version], client: str) -> dict[TextKey, Names]:
        """Read the names in the texts of versions, except those that the index has."""
        read: dict[TextKey, Names] = {}
        # Another search waits here, and then uses the names that this one has put into the index.
        async with self._reading.turn(client):
            unread = {key: version for version in versions if self._index.get(key := text_key(version)) is None}
            for keys in _jobs(unread):
                names_of_texts = await self._answering.names([unread[key].content.schema for key in keys], client)
                for key, names in zip(keys, names_of_texts, strict=True):
                    read[key] = names
                    self._index.add(key, names)
        return read


def _jobs(versions: dict[TextKey, Version]) -> Iterator[list[TextKey]]:
    keys: list[TextKey] = []
    characters = 0
    for key, version in versions.items():
        keys.append(key)
        characters += len(version.text)
        if characters >= _CHARACTERS_A_JOB or len(keys) == _TEXTS_A_JOB:
            yield keys
            keys, characters = [], 0
    if keys:
        yield keys
