"""The differences between the answers of v1 and v2 to the same operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson

from magicbyte.kit.errors import ApiError
from rest_proxy.errors import BAD_REQUEST, CONVERSION_FAILED
from rest_proxy.formats.embedded import EmbeddedFormat

#: Partition and offset of an acknowledged record, or `error_code` and `error` of a failed one, as v1 and v2 tell it.
Delivered = tuple[int, int, None, None]
Failed = tuple[None, None, int, str]
Outcome = Delivered | Failed


@dataclass(frozen=True, slots=True)
class Dialect:
    """One version of the API.

    Attributes:
        name: `v1` or `v2`.
        generic: The media type of its answers.
        misfit: Makes the error for a record that its format or schema refuses.
        produced: Makes the answer to a produce request from outcomes, key schema id and value schema id.
    """

    name: str
    generic: str
    misfit: Callable[[EmbeddedFormat, str], ApiError]
    produced: Callable[[Sequence[Outcome], int | None, int | None], bytes]


def _outcomes(outcomes: Sequence[Outcome]) -> bytes:
    return b",".join(
        [
            b'{"partition":%d,"offset":%d,"error_code":null,"error":null}' % (partition, offset)  # type: ignore[str-format]
            if code is None
            else b'{"partition":null,"offset":null,"error_code":%d,"error":%b}' % (code, orjson.dumps(error))
            for partition, offset, code, error in outcomes
        ]
    )


def _number(value: int | None) -> bytes:
    return b"null" if value is None else b"%d" % value


def _v1_produced(outcomes: Sequence[Outcome], key_schema_id: int | None, value_schema_id: int | None) -> bytes:
    return b'{"key_schema_id":%b,"value_schema_id":%b,"offsets":[%b]}' % (
        _number(key_schema_id),
        _number(value_schema_id),
        _outcomes(outcomes),
    )


def _v2_produced(outcomes: Sequence[Outcome], key_schema_id: int | None, value_schema_id: int | None) -> bytes:
    return b'{"offsets":[%b],"key_schema_id":%b,"value_schema_id":%b}' % (
        _outcomes(outcomes),
        _number(key_schema_id),
        _number(value_schema_id),
    )


def _v1_misfit(form: EmbeddedFormat, detail: str) -> ApiError:
    return CONVERSION_FAILED(target=form.conversion, detail=detail)


def _v2_misfit(_: EmbeddedFormat, detail: str) -> ApiError:
    return BAD_REQUEST(detail=detail)


V1 = Dialect("v1", "application/vnd.kafka.v1+json", _v1_misfit, _v1_produced)
V2 = Dialect("v2", "application/vnd.kafka.v2+json", _v2_misfit, _v2_produced)
