"""The reasons why a message cannot be decoded, as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.message import wire
from spark_avro.plan.frames import schema_guid

#: The kinds of broken messages: the error's `reason` begins with one of these.
SHORT = "payload too short"
MAGIC = "wrong magic byte"
HEADER = "malformed schema id header"
UNKNOWN = "unknown schema id"
UNKNOWN_GUID = "unknown schema guid"
UNREADABLE = "unreadable schema"
MALFORMED = "malformed payload"
TOO_MANY_DIGITS = "too many digits"

#: The characters of a guid.
_GUID_SIZE = 36


def reason(
    message: Column,
    *,
    ids: Sequence[int],
    unreadable: Mapping[int, str],
    origin: str,
    explained: Collection[tuple[Sequence[int], Column, str]] = (),
) -> Column:
    """The reason why a message of `Message.by_id` is not sound, as text; evaluated for broken rows only.

    All reasons share one format call, because Spark plans and compiles every expression of a query.

    Args:
        message: The message.
        ids: The ids whose records can be read.
        unreadable: The reasons why records cannot be read, by id.
        origin: The source of the schemas.
        explained: Ids, a condition, and the reason for records of these ids that meet it, as a format: `%3$s` is the id
            and `%4$s` its hexadecimal digits.
    """
    size = F.octet_length(message)
    header = F.hex(F.substring(message, 1, wire.V0_SIZE))
    first, digits = F.substring(header, 1, 2), F.substring(header, 3, 8)
    text = F.when(
        (size == 0) | ((first == "00") & (size < wire.V0_SIZE)),
        F.lit(f"{SHORT}: %1$s bytes, the header alone has {wire.V0_SIZE}"),
    )
    text = text.when(
        (first == "01") & (size < wire.V1_SIZE),
        F.lit(f"{SHORT}: %1$s bytes, magic byte and schema guid alone have {wire.V1_SIZE}"),
    )
    planned = f"is not among those of {verbatim(origin)} when the query was planned"
    text = text.when(first == "01", F.lit(f"{UNKNOWN_GUID}: %6$s {planned}"))
    text = text.when(first != "00", F.lit(f"{MAGIC}: 0x%2$s where a schema id's message has 0x00"))
    for number, problem in unreadable.items():
        text = text.when(header == _shown(number), F.lit(f"{UNREADABLE}: id %3$s (0x%4$s): {verbatim(problem)}"))
    for members, condition, explanation in explained:
        text = text.when(header.isin(*map(_shown, members)) & condition, F.lit(explanation))
    if ids:
        malformed = (
            f"{MALFORMED}: the %5$s bytes after the header are not one value of schema id %3$s (0x%4$s)"
            " (truncated, left over, or not for this reader)"
        )
        readable = F.lit(",".join(map(_shown, ids)))
        text = text.when(F.find_in_set(header, readable) > 0, F.lit(malformed))
    number = F.conv(digits, 16, 10)
    text = text.otherwise(F.lit(f"{UNKNOWN}: %3$s (0x%4$s) {planned}"))
    return F.printf(text, size, first, number, digits, size - wire.V0_SIZE, schema_guid(message))


def is_unknown(text: Column) -> Column:
    """Whether a reason says that a record's schema is not known."""
    return text.startswith(UNKNOWN) | text.startswith(UNKNOWN_GUID)


def unknown_guid(text: Column) -> Column:
    """The guid in a reason that says that it is not known; NULL for other reasons."""
    return F.when(text.startswith(UNKNOWN_GUID), F.substring(text, len(UNKNOWN_GUID) + 3, _GUID_SIZE))


def unknown_name(error: Column) -> Column:
    """The id or guid, as text, that an error says is not known; NULL for other errors."""
    text = error["reason"]
    return F.when(is_unknown(text), F.coalesce(error["id"].cast("string"), unknown_guid(text)))


def verbatim(text: str) -> str:
    """A text as part of a format."""
    return text.replace("%", "%%")


def _shown(schema_id: int) -> str:
    """The prefix of an id's messages, in hexadecimal as Spark's `hex` writes it."""
    return wire.prefix(schema_id).hex().upper()
