"""The checks of a pipeline between its steps and its sink: rows are tagged, counted in one pass, and divided."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.policies import Check
from spark_avro.pipeline.ports import FAILED, POSITION, BatchIdentity, Verdict
from spark_avro.pipeline.quality.conditions import columns, condition
from spark_avro.pipeline.quality.remembered import mark_repeats
from spark_avro.pipeline.quality.volume import VolumeCount

log = logging.getLogger(__name__)

WARN, DROP, DEAD_LETTER, FAIL = "warn", "drop", "dead-letter", "fail"

#: Names of measures; the name of a check's measure ends with the check's number.
_ROWS, _DROPPED, _DEAD = "rows", "dropped", "dead"
_FAILED, _EXAMPLE, _BY = "failed", "example", "by"
#: How many values of its `by` columns are counted one by one for each check; the rest is counted together.
_MOST_VALUES = 100
OTHERS = "others"


@dataclass(slots=True)
class QualityGate:
    """The checks of a pipeline.

    A row that fails several checks has all their names; the strictest check decides: the batch fails, or the row
    goes to the dead letters, is dropped, or passes.

    Attributes:
        checks: The checks.
    """

    checks: Sequence[Check]
    _volumes: Mapping[str, VolumeCount] = field(init=False)

    def __post_init__(self) -> None:
        self._volumes = {check.name: VolumeCount(check.volume) for check in self.checks if check.volume is not None}

    def tag(self, rows: DataFrame, new_keys: Mapping[int, DataFrame] | None = None) -> DataFrame:
        """The rows with FAILED: the names of the checks that a row fails, in their order.

        Args:
            rows: The rows after the steps.
            new_keys: For each check of `unique` with `within`, by its number, the keys that no earlier batch had; None
                if no batch is remembered.

        Raises:
            PipelineError: a check does not fit the columns; names the place in the file.
        """
        names: list[Column] = []
        marks: list[str] = []
        for number, check in enumerate(self.checks):
            columns(check.by, rows)  # an unknown path is reported with its place
            passes = condition(check, rows)
            if passes is None:
                continue
            if new_keys is not None and number in new_keys:
                marks.append(f"repeat{number}_")
                rows = mark_repeats(rows, check, new_keys[number], marks[-1])
                passes &= ~F.col(marks[-1])
            names.append(F.when(~passes, F.lit(check.name)))
        if not names:
            return rows.withColumn(FAILED, F.array().cast("array<string>"))
        return rows.withColumn(FAILED, F.filter(F.array(*names), lambda name: name.isNotNull())).drop(*marks)

    def measures(self) -> Mapping[str, Column]:
        """The aggregates over tagged rows, by name."""
        dead, dropped = self._fails(DEAD_LETTER), self._fails(DROP)
        measures = {
            _ROWS: F.count(F.lit(1)),
            _DEAD: F.count_if(dead),
            _DROPPED: F.count_if(dropped & ~dead),
        }
        place = F.struct(*(F.col(f"{POSITION}.{name}").alias(name) for name in ("topic", "partition", "offset")))
        for number, check in enumerate(self.checks):
            failed = _has_failed(check.name)
            measures[f"{_FAILED}{number}"] = F.count_if(failed)
            measures[f"{_EXAMPLE}{number}"] = F.min(F.when(failed, place))
            if check.by:
                by = F.struct(*(F.col(str(path)).alias(str(path)) for path in check.by))
                values = F.to_json(by, {"ignoreNullFields": "false"})
                measures[f"{_BY}{number}"] = F.collect_list(F.when(failed, values))
        return measures

    def judge(self, measured: Mapping[str, Any], batch: BatchIdentity) -> Verdict:
        """The verdict on a batch's measures."""
        rows = int(measured[_ROWS])
        failed: dict[str, int] = {}
        stops: list[str] = []
        findings: list[str] = []
        for number, check in enumerate(self.checks):
            count = int(measured[f"{_FAILED}{number}"])
            problem = _words(check, count, rows, measured[f"{_EXAMPLE}{number}"]) if count else None
            if check.name in self._volumes:
                problem = self._volumes[check.name].problem(rows)
                problem = None if problem is None else f"check {check.name!r} failed: {problem}"
                count = 0 if problem is None else 1
            if count:
                failed[check.name] = count
            if check.by and count:
                breakdown = _breakdown(measured[f"{_BY}{number}"])
                shown = ", ".join(f"{values}: {rows_of:,}" for values, rows_of in breakdown.items())
                log.warning(
                    "batch %s, check %r failed by %s",
                    batch.number,
                    check.name,
                    shown,
                    extra={"event": "check_missed", "batch": batch.number, "check": check.name},
                )
            if problem is None:
                continue
            is_over = check.at_most is not None and count > check.at_most * rows
            if is_over:
                problem += f", at most {check.at_most:g} of them may"
            if check.otherwise == FAIL and (is_over or check.at_most is None):
                stops.append(problem)
            elif is_over or (check.volume is not None and check.otherwise == WARN):
                findings.append(problem)
        dead, dropped = int(measured[_DEAD]), int(measured[_DROPPED])
        return Verdict(
            passed=rows - dead - dropped,
            dropped=dropped,
            dead=dead,
            failed=failed,
            stop="; ".join(stops) or None,
            finding="; ".join(findings) or None,
        )

    def passed(self, tagged: DataFrame) -> DataFrame:
        """The rows for the sink; with FAILED if a check warns, so that those rows can be told apart."""
        rows = tagged.where(~(self._fails(DEAD_LETTER) | self._fails(DROP)))
        warns = any(check.otherwise == WARN and check.volume is None for check in self.checks)
        return rows if warns else rows.drop(FAILED)

    def dead(self, tagged: DataFrame) -> DataFrame:
        """The rows for the dead letters, with FAILED."""
        return tagged.where(self._fails(DEAD_LETTER))

    def _fails(self, otherwise: str) -> Column:
        """Whether a row fails a check with this consequence."""
        names = [F.lit(check.name) for check in self.checks if check.otherwise == otherwise]
        return F.arrays_overlap(F.col(FAILED), F.array(*names)) if names else F.lit(False)


def _has_failed(name: str) -> Column:
    return F.array_contains(F.col(FAILED), name)


def _words(check: Check, count: int, rows: int, example: Any) -> str:
    place = ""
    if example is not None and example["topic"] is not None:
        place = f", for example {example['topic']} {example['partition']}:{example['offset']}"
    return f"check {check.name!r} failed for {count:,} of {rows:,} rows{place}"


def _breakdown(values: Sequence[str]) -> Mapping[str, int]:
    """Count the failed rows for each value of some columns, such as `carrier=UA`; only frequent values have a name."""
    counts = Counter(values)
    named = {_label(value): count for value, count in counts.most_common(_MOST_VALUES)}
    rest = len(values) - sum(named.values())
    return named | ({OTHERS: rest} if rest else {})


def _label(value: str) -> str:
    return ", ".join(f"{name}={'NULL' if part is None else part}" for name, part in json.loads(value).items())
