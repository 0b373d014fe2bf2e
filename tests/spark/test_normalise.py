from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from spark_avro.normalise import normaliser

DATE = {"type": "int", "logicalType": "date"}
MILLIS = {"type": "int", "logicalType": "time-millis"}
STAMP = {"type": "long", "logicalType": "timestamp-millis"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
NAME = {"type": "string", "logicalType": "uuid"}
RECORD = {"type": "record", "name": "R", "fields": [{"name": "t", "type": MILLIS}]}
DATES = {"type": "map", "values": DATE}
AT = datetime(2024, 2, 29, tzinfo=UTC)

#: A reader's schema, a codec's value of it, and Spark's.
CASES: list[tuple[Any, Any, Any]] = [
    (MILLIS, time(0, 0, 1), 1000),
    (MILLIS, 5, 5),
    (STAMP, AT, AT),
    (STAMP, 5, 5000),
    ([DECIMAL, DATE], date(2024, 2, 29), {"member0": None, "member1": date(2024, 2, 29)}),
    (["string", STAMP], AT, {"member0": None, "member1": AT}),
    ([MILLIS, "bytes"], b"a", {"member0": None, "member1": b"a"}),
    ([NAME, DECIMAL], Decimal("1.25"), {"member0": None, "member1": Decimal("1.25")}),
    ([NAME, DECIMAL], UUID(int=1), {"member0": "00000000-0000-0000-0000-000000000001", "member1": None}),
    ([DATES, RECORD], {"t": time(0, 0, 1)}, {"member0": None, "member1": {"t": 1000}}),
    ([DATES, RECORD], {"t": date(2024, 2, 29)}, {"member0": {"t": date(2024, 2, 29)}, "member1": None}),
]


@pytest.mark.parametrize(("schema", "value", "expected"), CASES)
def test_values_become_those_of_spark(schema: Any, value: Any, expected: Any) -> None:
    change = normaliser(json.dumps(schema))
    assert change is not None
    assert change(value) == expected


def test_a_value_of_no_branch_is_an_error() -> None:
    change = normaliser(json.dumps([DECIMAL, "boolean"]))
    assert change is not None
    with pytest.raises(ValueError, match="is of no branch"):
        change("text")
