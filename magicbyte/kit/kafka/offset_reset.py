"""The rules of offset resets, for `magicbyte groups reset` and the REST proxy: where a group goes on in a partition."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an offset reset: the end, unless one attribute is set.

    Attributes:
        is_earliest: To the first record.
        offset: To this offset.
        timestamp: To the first record that is not older, in milliseconds since 1970.
        shift: By this many offsets from the committed one.
    """

    is_earliest: bool = False
    offset: int | None = None
    timestamp: int | None = None
    shift: int | None = None


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """The reset of the committed offset of one partition.

    Attributes:
        committed: The offset that is committed now; None if there is none.
        wanted: The offset that the target selects.
        begin, end: The offset of the partition's first record, and the one after its last.
    """

    committed: int | None
    wanted: int
    begin: int
    end: int

    @property
    def new(self) -> int:
        """The new offset: the wanted one, moved into the partition."""
        return min(max(self.wanted, self.begin), self.end)

    @property
    def skipped(self) -> int | None:
        """The number of offsets still in the log that the group would never read; None if nothing is committed."""
        return None if self.committed is None else max(0, self.new - max(self.committed, self.begin))

    @property
    def repeated(self) -> int | None:
        """The number of offsets that the group would read once more; None if nothing is committed."""
        return None if self.committed is None else max(0, min(self.committed, self.end) - self.new)


class NothingCommitted(ValueError):
    """A shift of a partition without a committed offset."""


def reset_of(target: Target, *, committed: int | None, begin: int, end: int, at_time: int | None = None) -> OffsetReset:
    """Work out the reset of one partition.

    Args:
        target: Where to reset to.
        committed: The offset that is committed now; None if there is none.
        begin: The offset of the partition's first record.
        end: The offset after its last record.
        at_time: The offset of the first record that is not older than the target's timestamp; None if there is none.

    Raises:
        NothingCommitted: The target shifts, and there is no committed offset.
    """
    if target.offset is not None:
        wanted = target.offset
    elif target.timestamp is not None:
        # No record is that new: the next one will be.
        wanted = end if at_time is None else at_time
    elif target.shift is not None:
        if committed is None:
            raise NothingCommitted
        wanted = committed + target.shift
    else:
        wanted = begin if target.is_earliest else end
    return OffsetReset(committed, wanted, begin, end)
