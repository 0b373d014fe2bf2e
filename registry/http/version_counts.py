"""Counts of subjects and versions, kept up to date from scrape to scrape."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

from registry.log.port import BEGINNING
from registry.state.view import View

#: The counts of a subject's versions by type and by whether they are soft deleted.
Tally = tuple[tuple[tuple[str, bool], int], ...]


class VersionCounts:
    """Counts subjects and versions; each count looks only at the subjects that changed since the previous one."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._offset = BEGINNING
        self._tallies: dict[str, Tally] = {}
        #: Most subjects have equal tallies, so equal tallies share one object.
        self._kept: dict[Tally, Tally] = {}
        self._total: Counter[tuple[str, bool]] = Counter()
        self._counting = threading.Lock()

    def now(self) -> tuple[int, Counter[tuple[str, bool]]]:
        """Return the number of subjects, and the number of versions by type and by whether they are soft deleted."""
        with self._counting:
            # Read the offset first, so that entries applied during the count are counted again next time.
            end = self._view.offset
            for subject in self._changed():
                self._total.subtract(dict(self._tallies.pop(subject, ())))
                counts = Counter(
                    (version.schema_type, version.deleted) for version in list(self._view.versions(subject))
                )
                self._total.update(counts)
                if counts:
                    tally = tuple(sorted(counts.items()))
                    self._tallies[subject] = self._kept.setdefault(tally, tally)
            self._offset = end
            return len(self._tallies), +self._total

    def _changed(self) -> Iterable[str]:
        entries = self._view.entries_after(self._offset)
        if entries is None:
            return {*self._view.subjects(), *self._tallies}
        return {entry.key.subject for entry in entries if entry.key.subject}
