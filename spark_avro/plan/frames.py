"""The frame of a message in Spark's columns: what names its schema, and where its payload begins.

A frame in a header is put before its payload, and so becomes V1's prefix; see `serdes.message.wire`. A guid that is
known then becomes the schema's id, as in V0's prefix. So all that decodes messages reads V0, and what is left of V1 has
an unknown guid.

The optimiser pushes expressions into a CASE of which all branches but one are literals. Spark would then not compute
these columns once, as it does with the CASEs here.

A decoder mentions its message for each version. Where there are rows to select from, the message is therefore a column
of a selection of its own (`FRAME`, `BY_ID`): Spark optimises a plan with all these mentions written out for minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.error import TruncatedMessage, WrongMagic
from serdes.message import wire
from serdes.rules.plan import RULE_NAME

#: The ids of guids.
Guids = Mapping[str, int]

#: A position after the end of all payloads.
_END = 2**31 - 1
#: The hexadecimal digits of V0's prefix.
_PREFIX_DIGITS = 2 * wire.V0_SIZE


@dataclass(frozen=True, slots=True)
class Message:
    """A record's key or value as it is in the record.

    Attributes:
        payload: The key or value, perhaps with a prefix.
        header: The value of the header that names its schema, see `frame_header`; None if no headers are read.
        resolved: The column that `by_id` returned in an earlier selection; None if there is none.
        carried: The column of `spark_avro.plan.rules.before` in an earlier selection; None if there is none.
        replayed: The rule that a record from the dead letters skips, as text; None if no headers are read.
    """

    payload: Column
    header: Column | None = None
    resolved: Column | None = None
    carried: Column | None = None
    replayed: Column | None = None

    def by_id(self, guids: Guids, *, indexes: bool = False) -> Column:
        """The message with its schema's id before the payload.

        A message with an unknown guid has that before its payload. One with a malformed header is NULL.

        Args:
            guids: The ids of guids.
            indexes: Whether the message indexes of Protobuf follow the guid; other formats ignore bytes there.
        """
        if self.resolved is not None:
            return self.resolved
        framed = self.payload if self.header is None else self._framed(self.header, indexes=indexes)
        if not guids:
            return framed
        with_id = F.concat(_prefix(framed, guids), F.substring(framed, wire.V1_SIZE + 1, _END))
        return F.when(_is_v1(framed), F.coalesce(with_id, framed)).otherwise(framed)

    def _framed(self, header: Column, *, indexes: bool) -> Column:
        """The message with its frame before the payload; NULL if the header is malformed."""
        by_header = F.concat(header if indexes else F.substring(header, 1, wire.V1_SIZE), self.payload)
        return F.when(header.isNull(), self.payload).when(_is_frame(header), by_header)

    def is_malformed(self) -> Column:
        """Whether the header is no frame; never NULL. A NULL payload has no frame."""
        if self.header is None:
            return F.lit(False)
        return self.header.isNotNull() & self.payload.isNotNull() & ~_is_frame(self.header)

    def problem(self) -> Column:
        """The reason why the header is no frame, in the words of the deserializers."""
        if self.header is None:
            return F.lit(None).cast("string")
        header = self.header
        size, magic = F.octet_length(header), F.conv(F.hex(F.substring(header, 1, 1)), 16, 10)
        text = F.when(size == 0, F.lit(_EMPTY)).when(magic == str(wire.MAGIC_V1), F.lit(_SHORT))
        return F.printf(text.otherwise(F.lit(_WRONG_MAGIC)), size, magic)


#: The texts of the deserializers, as formats of the header's size and first byte.
_NUMBER = 987654321
_EMPTY = str(TruncatedMessage("the magic byte of the schema id header", 1, 0))
_SHORT = str(TruncatedMessage("the schema id header", wire.V1_SIZE, _NUMBER)).replace(str(_NUMBER), "%1$s")
_WRONG_MAGIC = str(WrongMagic(_NUMBER, (wire.MAGIC_V1,))).replace(str(_NUMBER), "%2$s")


def message_of(payload: Column, headers: Column | None, *, is_key: bool) -> Message:
    """A message, and the header of its schema.

    Args:
        payload: The key or value.
        headers: The record's headers, an array of structs of key and value; None if they are not read.
        is_key: Whether the payload is a key.
    """
    if headers is None:
        return Message(payload)
    return Message(payload, frame_header(headers, is_key=is_key), replayed=replayed_rule(headers))


#: The columns of an earlier selection: the header that names a record's schema, and the message with its id.
FRAME, BY_ID = "frame_", "by_id_"
#: The column of an earlier selection with the rule that a record skips.
REPLAYED = "replayed_"


def frame_column(*, is_key: bool) -> Column:
    """The column FRAME of records that have `headers`."""
    return frame_header(F.col("headers"), is_key=is_key).alias(FRAME)


def replayed_rule(headers: Column) -> Column:
    """The rule that a record from the dead letters failed at, which it skips; NULL for other records."""
    return _last_header(headers, RULE_NAME).cast("string")


def frame_header(headers: Column, *, is_key: bool) -> Column:
    """The value of the last header that names the schema of a key or value; NULL if there is none with a value."""
    return _last_header(headers, wire.header_name(is_key=is_key))


def _last_header(headers: Column, name: str) -> Column:
    """The value of the last header of a name that has one; NULL if there is none.

    A lambda (`filter`) would take the whole projection, with its Avro decoder, out of the generated code.
    """
    nothing = F.struct(F.lit(name).alias("key"), F.lit(None).cast("binary").alias("value"))
    last_first = F.reverse(F.call_function("array_remove", headers, nothing))
    last = F.get(last_first["value"], F.array_position(last_first["key"], name) - 1)
    # Most records have no such header; looking for one is fast. The other branch is NULL, but no literal: no item -1.
    has_one = F.coalesce(F.array_contains(headers["key"], name), F.lit(False))
    return F.when(has_one, last).otherwise(F.get(headers, F.lit(-1))["value"])


def _prefix(message: Column, guids: Guids) -> Column:
    """V0's prefix for the guid before a payload; NULL if it is not among some.

    Not by a map: Spark takes equal literals of maps for different ones, and would compute the column for each mention.
    """
    known = ",".join(wire.guid_bytes(guid).hex().upper() for guid in guids)
    # The first one is no number, and so becomes NULL.
    prefixes = "".join(["?" * _PREFIX_DIGITS, *(wire.prefix(schema_id).hex() for schema_id in guids.values())])
    place = F.find_in_set(F.hex(F.substring(message, 1, wire.V1_SIZE)), F.lit(known)) * _PREFIX_DIGITS + 1
    return F.unhex(F.call_function("substring", F.lit(prefixes), place, F.lit(_PREFIX_DIGITS)))


def schema_id(message: Column) -> Column:
    """The id before the payload as a long; NULL for another frame."""
    digits = F.hex(F.substring(message, 2, wire.V0_SIZE - 1))
    has_id = (F.substring(message, 1, 1) == F.lit(b"\x00")) & (F.octet_length(message) >= wire.V0_SIZE)
    return F.when(has_id, F.conv(digits, 16, 10).cast("long"))


def body(message: Column) -> Column:
    """The bytes after the id."""
    return F.substring(message, wire.V0_SIZE + 1, _END)


def schema_guid(message: Column) -> Column:
    """The guid before the payload, as text; NULL for another frame."""
    has_guid = _is_v1(message) & (F.octet_length(message) >= wire.V1_SIZE)
    return F.when(has_guid, _guid_text(message))


def _guid_text(message: Column) -> Column:
    parts = ((2, 4), (6, 2), (8, 2), (10, 2), (12, 6))
    return F.lower(F.concat_ws("-", *(F.hex(F.substring(message, start, size)) for start, size in parts)))


def _is_v1(message: Column) -> Column:
    """Whether the first byte is V1's; comparing bytes copies none."""
    return (message >= F.lit(bytes([wire.MAGIC_V1]))) & (message < F.lit(bytes([wire.MAGIC_V1 + 1])))


def _is_frame(header: Column) -> Column:
    return _is_v1(header) & (F.octet_length(header) >= wire.V1_SIZE)
