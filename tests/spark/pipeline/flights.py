"""Flights in two versions of a schema, and a sink in memory."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from spark_avro.pipeline.ports import REASON, BatchIdentity, Delivery, Guarantee, Reject, SinkResult

V1 = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "carrier", "type": "string"},
            {"name": "delay", "type": ["null", "int"], "default": None},
        ],
    }
)
V2 = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "carrier", "type": "string"},
            {"name": "delay", "type": ["null", "int"], "default": None},
            {"name": "tail", "type": "string", "default": "?"},
        ],
    }
)


class ListSink:
    """Keeps rows in memory, each batch once."""

    guarantee = Guarantee(Delivery.EXACTLY_ONCE, "in memory", "gone", "none")

    def __init__(self) -> None:
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.identities: list[BatchIdentity] = []
        self.lose = 0
        self.refuses = "false"

    def prepare(self, schema: StructType) -> tuple[str, ...]:
        del schema
        return ()

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        self.identities.append(batch)
        if str(batch) in self.batches:
            return SinkResult(len(self.batches[str(batch)]), repeated=True)
        refused = rows.where(self.refuses).withColumn(REASON, F.lit("the target does not like it"))
        if refused.count():
            reject(refused)
        kept = rows.where(f"not ({self.refuses})")
        self.batches[str(batch)] = [row.asDict(recursive=True) for row in kept.collect()]
        return SinkResult(len(self.batches[str(batch)]) - self.lose)

    def close(self) -> None:
        pass

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for batch in self.batches.values() for row in batch]


class CrashesOnce(ListSink):
    """Crashes after its first batch, and forgets it; `lost` has the rows of that batch."""

    lost: list[dict[str, Any]]

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        result = super().write(rows, batch, reject=reject)
        if len(self.identities) == 1:
            self.lost = self.rows
            self.batches.clear()
            raise ZeroDivisionError
        return result


def messages(avro: Any, schema_id: int, count: int, first: int = 0) -> list[bytes]:
    """So many flights of the first version."""
    return [avro.message(schema_id, V1, {"id": n, "carrier": "UA", "delay": n}) for n in range(first, first + count)]
