"""The parts of a decoded column, and the plan that makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.frames import Guids, Message, schema_id
from spark_avro.plan.reasons import HEADER
from spark_avro.plan.rules.before import before_decoding

if TYPE_CHECKING:
    from spark_avro.plan.rules.reading import ReadRules


class ColumnPlan(Protocol):
    """The plan for decoding a column, made from one snapshot of the registry."""

    @property
    def ids(self) -> Sequence[int]:
        """The ids whose records can be read."""

    @property
    def unreadable(self) -> Mapping[int, str]:
        """The reasons why records cannot be read, by id."""

    @property
    def guids(self) -> Guids:
        """The ids of the schemas' guids, newest first."""

    @property
    def has_indexes(self) -> bool:
        """Whether the message indexes of Protobuf follow a guid in a header."""

    @property
    def rules(self) -> ReadRules:
        """The rules on records."""

    def parts(self, message: Message) -> Decoded:
        """The parts of a message decoded by this plan."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded column's parts.

    Attributes:
        value: The value; NULL if the record is broken.
        sound: Whether the payload is sound and passed its rules.
        reason: The reason if not.
        schema_id: The id.
        failure: What rules left of it, see `spark_avro.plan.rules.carried.FAILURE`; None without rules.
    """

    value: Column
    sound: Column
    reason: Column
    schema_id: Column
    failure: Column | None = None

    def failed(self, failure: Column, *, has_rules: bool = True) -> Decoded:
        """The same parts with another failure, which comes first; unchanged if there are no rules."""
        if not has_rules:
            return self
        first = failure if self.failure is None else F.coalesce(failure, self.failure)
        why = F.coalesce(failure["reason"], self.reason)
        return Decoded(self.value, self.sound & failure.isNull(), why, self.schema_id, first)


def parts_of(
    message: Message,
    guids: Guids,
    decode: Callable[[Column], Decoded],
    *,
    indexes: bool = False,
    before: Mapping[int, Any] | None = None,
) -> Decoded:
    """The parts of a message.

    Args:
        message: The message.
        guids: The ids of guids.
        decode: Returns the parts of a message with an id before the payload.
        indexes: As in `Message.by_id`.
        before: The rules that run before the message is decoded, by id.
    """
    by_id = message.by_id(guids, indexes=indexes)
    if before:
        carried = before_decoding(by_id, before, message.replayed) if message.carried is None else message.carried
        parts = replace(decode(carried["message"]), schema_id=schema_id(by_id)).failed(carried["failure"])
    else:
        parts = decode(by_id)
    if message.header is None:
        return parts
    malformed = message.is_malformed()
    why = F.when(malformed, F.concat(F.lit(f"{HEADER}: "), message.problem())).otherwise(parts.reason)
    return replace(parts, sound=parts.sound & ~malformed, reason=why)
