"""Spark's figures of its state after each batch: rows, bytes, late rows, the watermark, and the input that holds it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from spark_avro.pipeline.batch.measures import counts_by_id
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.state_rules import delay_of
from spark_avro.pipeline.file.steps import Aggregate, Join, joins_topic, remembers
from spark_avro.pipeline.folder import Folder, ReadableFolder
from spark_avro.pipeline.ports import UNMATCHED

_FILE = "_magicbyte/progress.json"
#: The name of the measures of all records in Spark's progress.
RECORDS = "records"
_EPOCH = "1970-01-01T00:00:00.000Z"


@dataclass(frozen=True, slots=True)
class OperatorProgress:
    """An operator's state.

    Attributes:
        name: Spark's name of the operator.
        rows: The rows that it keeps.
        memory: The bytes that they take in memory.
        disk: The bytes of RocksDB's files.
        late: The rows that came after the watermark in all batches of this checkpoint; of a window, groups of rows.
    """

    name: str
    rows: int
    memory: int
    disk: int
    late: int


@dataclass(frozen=True, slots=True)
class StateProgress:
    """The state after a batch.

    Attributes:
        batch: The number of the batch.
        watermark: The time up to which no more rows are expected, in ISO 8601; None while there is none.
        operators: The operators, in the order of Spark's plan.
        newest: The newest time of each input that has a watermark, in ISO 8601, by `inputs_of`.
        ids: The records of the batch by schema id.
        unmatched: How many rows found no value in the topic that a step joins as a table, in all batches, by the step's
            place in the file.
    """

    batch: int
    watermark: str | None = None
    operators: Sequence[OperatorProgress] = ()
    newest: Mapping[str, str] = field(default_factory=dict)
    ids: Mapping[int, int] = field(default_factory=dict)
    unmatched: Mapping[str, int] = field(default_factory=dict)

    def after(self, number: int, progress: Mapping[str, Any]) -> StateProgress:
        """The state after the next batch.

        Args:
            number: The number of the batch.
            progress: Spark's progress of the batch.
        """
        late_before = [operator.late for operator in self.operators]
        operators = []
        for place, found in enumerate(progress.get("stateOperators", ())):
            custom = found.get("customMetrics", {})
            before = late_before[place] if place < len(late_before) else 0
            operators.append(
                OperatorProgress(
                    found["operatorName"],
                    found["numRowsTotal"],
                    found["memoryUsedBytes"],
                    custom.get("rocksdbSstFileSize", 0),
                    before + found.get("numRowsDroppedByWatermark", 0),
                )
            )
        watermark = progress.get("eventTime", {}).get("watermark")
        observed = progress.get("observedMetrics", {})
        newest = {
            name: str(_value(row, "newest"))
            for name, row in observed.items()
            if name != RECORDS and _value(row, "newest")
        }
        unmatched = {
            name.removesuffix(f" {UNMATCHED}"): int(_value(row, "unmatched") or 0)
            for name, row in observed.items()
            if name.endswith(f" {UNMATCHED}")
        }
        counts = {name: self.unmatched.get(name, 0) + count for name, count in unmatched.items()}
        ids = counts_by_id(_fields(observed[RECORDS])) if RECORDS in observed else {}
        known = None if watermark in (None, _EPOCH) else watermark
        return replace(
            self,
            batch=number,
            watermark=known,
            operators=operators,
            newest={**self.newest, **newest},
            ids=ids,
            unmatched={**self.unmatched, **counts},
        )

    def holders(self, pipeline: Pipeline) -> list[tuple[str, str]]:
        """The inputs with their newest times, the one that holds the watermark first."""
        delays = dict(inputs_of(pipeline))
        known = [(name, self.newest[name]) for name in delays if name in self.newest]
        silent = [(name, "no row yet") for name in delays if name not in self.newest]
        return silent + sorted(known, key=lambda item: _time(item[1]) - delays[item[0]])

    def write(self, folder: Folder) -> None:
        """Keep the progress in the checkpoint."""
        folder.replace(_FILE, json.dumps(asdict(self)))

    @staticmethod
    def read(folder: ReadableFolder) -> StateProgress | None:
        """The progress of a checkpoint; None if no batch with state was run."""
        text = folder.read(_FILE)
        if text is None:
            return None
        noted = json.loads(text)
        operators = [OperatorProgress(**operator) for operator in noted.pop("operators")]
        ids = {int(number): count for number, count in noted.pop("ids").items()}
        return StateProgress(**noted, operators=operators, ids=ids)


def inputs_of(pipeline: Pipeline) -> list[tuple[str, timedelta]]:
    """The inputs with a watermark, with how late their rows may come; Spark's watermark is that of the slowest."""
    own = [
        step for step in pipeline.steps if remembers(step) and not isinstance(step, Aggregate) and not joins_topic(step)
    ]
    inputs = [(step.origin.setting, delay_of(pipeline.steps, pipeline.quality)) for step in own[:1]]
    streams = [(f"{step.origin.setting} {step.stream}", step.late) for step in own if isinstance(step, Join)]
    return inputs + streams


def _fields(row: Any) -> dict[str, Any]:
    """The fields of a row in a progress, which is a mapping or a Row by Spark's version."""
    return dict(row) if isinstance(row, Mapping) else dict(row.asDict())


def _value(row: Any, name: str) -> Any:
    return _fields(row).get(name)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
