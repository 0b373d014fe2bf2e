"""Progress of a run of a producing tool: read, bad, delivered and unsent lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from magicbyte.kit.plural import plural
from serdes.console.outcome import NOT_DELIVERED, Ended
from serdes.console.produce.outbox import Outbox


@dataclass(slots=True)
class Progress:
    """The progress of a run.

    Attributes:
        items: The lines with their numbers, or other items.
        unit: What an item is called in messages.
        number: The number of the last line that was read.
        bad: How many lines are bad.
        unsent: The number of the first line that was not sent.
        is_exhausted: Whether all lines were read.
    """

    items: Iterator[tuple[int, bytes]]
    unit: str
    number: int = 0
    bad: int = 0
    unsent: int = 1
    is_exhausted: bool = False

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """The lines; one counts as sent when the next is requested."""
        for number, line in self.items:
            self.number = self.unsent = number
            yield number, line
            self.unsent = number + 1
        self.is_exhausted = True

    def check_delivery(self, outbox: Outbox) -> None:
        """Check that all records were delivered.

        Raises:
            Ended: One was not.
        """
        if outbox.failed:
            first = f"{self.unit} {outbox.first_failed}"
            text = f"{outbox.failed:,} records were not delivered (the first: {first})"
            if outbox.failed == 1:
                text = f"{first} was not delivered"
            raise Ended(NOT_DELIVERED, f"{text}: {outbox.reason}")

    def counts(self, outbox: Outbox, *, is_finite: bool) -> str:
        """The delivered records, and the lines that were never sent.

        Args:
            outbox: The producer of the run.
            is_finite: Whether the lines end by themselves, as those of a file do: then all are read and counted.
        """
        text = f"delivered: {plural(outbox.delivered, 'record')}"
        if outbox.failed:
            text += f"; not delivered: {plural(outbox.failed, 'record')}"
        rest = self._rest() if is_finite or self.is_exhausted else None
        if rest is None:
            return f"{text}; never sent: {self.unit} {self.unsent} and all after it"
        count = self.number + 1 - self.unsent + rest
        return f"{text}; never sent: {plural(count, self.unit)}" + (
            f", from {self.unit} {self.unsent} on" if count else ""
        )

    def _rest(self) -> int | None:
        try:
            return sum(1 for _ in self.items)
        except Exception:  # noqa: BLE001 - another error is on its way to the user
            return None
