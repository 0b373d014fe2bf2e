"""Encoding the records of a v1 or v2 request whose schemas have rules: a rule stops a record, not the request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte.kit.errors import ApiError
from rest_proxy.errors import SERIALIZING_FAILED
from rest_proxy.exchange.dialect import Failed, Outcome
from rest_proxy.formats.plain import DataError
from rest_proxy.formats.ruled import RecordInHand, RuleRefusal
from rest_proxy.formats.writers import Encode
from rest_proxy.produce.loop_producer import Record


@dataclass(frozen=True, slots=True)
class RefusedRecord:
    """A record that a rule stops, and why."""

    reason: str

    @property
    def outcome(self) -> Failed:
        """The record's part of the answer."""
        return None, None, SERIALIZING_FAILED.code, self.reason


def encode_ruled_records(
    records: Sequence[Any],
    encode_key: Encode,
    encode_value: Encode,
    misfit: Callable[[str], ApiError],
    *,
    record: RecordInHand,
    partition: int,
) -> list[Record | RefusedRecord]:
    """As `encode_records`, for parsed JSON and schemas with rules: a record that a rule stops is left out.

    Args:
        records: The records as the request has them.
        encode_key: Encodes a key; raises DataError or RuleRefusal.
        encode_value: Encodes a value; raises DataError or RuleRefusal.
        misfit: As for a `RecordEncoder`.
        record: Holds the key for the rules of the value.
        partition: The partition of records that name none; -1 if the partitioner chooses it.

    Returns:
        The records, and refusals in the place of those that a rule stops.

    Raises:
        ApiError: The misfit of a record, with its number.
    """
    encoded: list[Record | RefusedRecord] = []
    side = "value"
    try:
        for entry in records:
            own_partition = partition if entry.partition is None else entry.partition
            try:
                side = "key"
                record.key = encode_key(entry.key)
                side = "value"
                encoded.append((record.key, encode_value(entry.value), own_partition, 0, None))
            except RuleRefusal as refusal:
                encoded.append(RefusedRecord(refusal.answer))
    except DataError as error:
        raise misfit(error.within(f"records[{len(encoded)}].{side}")) from None
    return encoded


def with_refusals(encoded: Sequence[Record | RefusedRecord], sent: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of all records, in their order, from the outcomes of those that were sent."""
    outcomes = iter(sent)
    return [record.outcome if isinstance(record, RefusedRecord) else next(outcomes) for record in encoded]
