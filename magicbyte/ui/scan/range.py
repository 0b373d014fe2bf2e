"""The offsets that a scan reads, by partition: from its cursor, its offset and its times."""

from __future__ import annotations

from magicbyte.ui import errors
from magicbyte.ui.messages.scan_request import ScannedRecord, ScanRequest
from magicbyte.ui.scan.merge import read_cursor
from magicbyte.ui.scan.source import Bounds, TopicSource


async def range_of(source: TopicSource, wanted: ScanRequest) -> dict[int, Bounds]:
    """The offsets to read, by partition.

    Raises:
        ApiError: The topic does not have a partition, or the REST proxy refuses or does not answer.
    """
    partitions = await source.bounds()
    for partition in wanted.partitions or ():
        if partition not in partitions:
            raise errors.NO_PARTITION(partition=partition)
    chosen = partitions if wanted.partitions is None else {number: partitions[number] for number in wanted.partitions}
    cursor = None if wanted.cursor is None else read_cursor(wanted.cursor)
    ranges = {}
    for partition, bounds in chosen.items():
        first, end = bounds.first, bounds.end
        if first < end and wanted.since is not None:
            first = await source.offset_at(partition, wanted.since)
        if first < end and wanted.until is not None:
            end = await source.offset_at(partition, wanted.until)
        ranges[partition] = _begun(Bounds(first, max(first, end)), partition, wanted, cursor)
    return ranges


def is_in_time(record: ScannedRecord, since: int | None, until: int | None) -> bool:
    """Whether a record's own time is in a range; the times of a partition need not increase.

    Args:
        record: The record.
        since: The first time, in ms since the epoch; None for all.
        until: The end, exclusive; None for all.
    """
    at = record.timestamp
    return at is None or ((since is None or at >= since) and (until is None or at < until))


def _begun(bounds: Bounds, partition: int, wanted: ScanRequest, cursor: dict[int, int] | None) -> Bounds:
    """The bounds of a partition that are left from the cursor on, or from the offset on."""
    if wanted.is_newest_first:
        if cursor is not None:
            # A partition that is newer than the cursor has nothing older than what was shown.
            end = cursor.get(partition, bounds.first)
        elif wanted.offset is not None:
            end = wanted.offset + 1
        else:
            return bounds
        return Bounds(bounds.first, max(bounds.first, min(bounds.end, end)))
    first = cursor.get(partition, bounds.first) if cursor is not None else wanted.offset or 0
    return Bounds(min(bounds.end, max(bounds.first, first)), bounds.end)
