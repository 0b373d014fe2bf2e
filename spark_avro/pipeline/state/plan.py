"""The plan of a stream whose steps remember rows: decoded, carried through all steps, with what failed beside it.

A record that cannot be decoded, or that makes a step fail, must not be lost in an operator. It goes round them: the
plan is the union of the rows after the steps with the failed records. Spark reads the source for both, on the same
offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.batch.measures import record_measures
from spark_avro.pipeline.batch.prepared import Opened, record_columns
from spark_avro.pipeline.file.state_rules import delay_of
from spark_avro.pipeline.file.steps import Aggregate, Deduplicate, Join, Step, Window, remembers
from spark_avro.pipeline.letters.failing import Case, failing
from spark_avro.pipeline.letters.isolate import is_one_of
from spark_avro.pipeline.letters.rows import STEPS
from spark_avro.pipeline.ports import EVENT_TIME, POSITION
from spark_avro.pipeline.sources.parts import Part
from spark_avro.pipeline.state.faults import LeftOut, UnknownId
from spark_avro.pipeline.state.fixed_columns import KeptColumns
from spark_avro.pipeline.state.progress import RECORDS
from spark_avro.pipeline.state.refused import check_streaming, references, refusal
from spark_avro.pipeline.state.unique import new_keys
from spark_avro.pipeline.steps.fields_at import column_at
from spark_avro.pipeline.steps.stateful import dedupe_keys
from spark_avro.pipeline.steps.step import StepContext
from spark_avro.pipeline.steps.step_table import STEP_KINDS, apply_steps, before_state
from spark_avro.pipeline.steps.times import needs_time, with_time
from spark_avro.pipeline.steps.topic_table import table_records
from spark_avro.plan.frames import Guids, message_of, schema_id

#: The column of a failed record: its error, and the column or stage that failed. NULL in rows.
UNDECODED = "_undecoded_"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """A plan of a stream.

    Attributes:
        opened: The parts of the pipeline.
        kept: The columns that the operators keep.
        left_out: The records that the batch that is repeated leaves out; they go round the steps.
    """

    opened: Opened
    kept: KeptColumns
    left_out: LeftOut = field(default_factory=LeftOut)

    @property
    def output_mode(self) -> str:
        """Spark's output mode: update if groups are written by each batch that changes them."""
        steps = self.opened.pipeline.steps
        each = any(isinstance(step, Window | Aggregate) and step.emit == "each-batch" for step in steps)
        return "update" if each else "append"

    def frame(self, records: DataFrame) -> DataFrame:
        """The rows after all steps, the failed records, and the new keys for checks of `unique`.

        Args:
            records: The records of the source, as a stream.

        Raises:
            PipelineError: a step does not fit the columns, or Spark has no streaming operator for it.
        """
        own, *others = (self._decoded(records, name) for name in ("", *self._streams()))
        joined = dict(zip(self._streams(), others, strict=True))
        delay = delay_of(self.opened.pipeline.steps, self.opened.pipeline.quality)
        rows = self._steps(delay, self._sound(own), joined)
        united = rows.drop(EVENT_TIME)
        for number, check in enumerate(self.opened.pipeline.quality):
            if check.remembered_for is not None:
                keys = new_keys(rows, check, number, self.kept, delay)
                united = united.unionByName(keys, allowMissingColumns=True)
        for decoded in (self._measured(own), *others):
            if "error" in decoded.columns:
                error = F.struct("error", "error_column").alias(UNDECODED)
                failed = decoded.where(F.col("error").isNotNull()).select(POSITION, error)
                united = united.unionByName(failed, allowMissingColumns=True)
        return united

    def _measured(self, decoded: DataFrame) -> DataFrame:
        """Decoded records, whose ids are counted in Spark's progress."""
        if "error" not in decoded.columns:
            return decoded
        measures = record_measures([part for part in self.opened.source.parts if not part.name])
        return decoded.observe(RECORDS, *(column.alias(name) for name, column in measures.items()))

    def _streams(self) -> list[str]:
        joined = (step.reads for step in self.opened.pipeline.steps if isinstance(step, Join))
        return list(dict.fromkeys(name for name in joined if name is not None))

    def _decoded(self, records: DataFrame, name: str) -> DataFrame:
        decoded = self.opened.decoded(records, name)
        return _left_out(decoded, self.left_out, self.opened.source.parts) if "error" in decoded.columns else decoded

    def _sound(self, decoded: DataFrame, name: str = "") -> DataFrame:
        good = decoded.where(F.col("error").isNull()) if "error" in decoded.columns else decoded
        return record_columns(good, self.opened.source, name)

    def _steps(self, delay: timedelta, rows: DataFrame, joined: Mapping[str, DataFrame]) -> DataFrame:
        def stream(step: Join) -> DataFrame:
            assert step.stream is not None
            records = self._sound(joined[step.stream], step.stream)
            return self.kept.whole_rows(f"{step.origin.setting} {step.stream}", records, step)

        def topic(step: Join) -> DataFrame:
            assert step.topic is not None
            records = table_records(joined[step.topic].where(F.col("error").isNull()))
            return self.kept.whole_rows(f"{step.origin.setting} {step.topic}", records, step)

        pipeline = self.opened.pipeline
        context = StepContext(self.opened.tables, stream, topic, delay, self.kept.key, needs_time(pipeline.steps))
        for step in pipeline.steps:
            with _with_errors_of_file(step):
                if remembers(step):
                    rows = self._kept(step, rows)
                before, rows = rows, STEP_KINDS[type(step)].plan(rows, step, context)
                check_streaming(before, rows, step, self.output_mode, remembers=remembers(step))
        return rows

    def into_state(self, rows: DataFrame) -> DataFrame:
        """Rows of a batch as they come to the first step that remembers them, with all that may fail until then."""
        opened = self.opened
        before = before_state(opened.pipeline.steps)
        rows = apply_steps(rows, before, opened.context(opened.source.empty()))
        if len(before) == len(opened.pipeline.steps):
            return rows
        step = opened.pipeline.steps[len(before)]
        rows = self._kept(step, rows)
        columns = dedupe_keys(rows, step, self.kept.key) if isinstance(step, Deduplicate) else []
        if isinstance(step, Deduplicate) or (isinstance(step, Join) and step.stream is not None):
            time = with_time(column_at(step.time, rows.schema), needs_time(opened.pipeline.steps))
            columns.append(time.alias(EVENT_TIME))
        return rows.select("*", *columns)

    def _kept(self, step: Step, rows: DataFrame) -> DataFrame:
        operator = step.origin.setting
        if isinstance(step, Join):
            # Rows that do not wait for a topic's key are not kept.
            is_kept = step.topic is None or step.wait is not None
            return self.kept.whole_rows(operator, rows, step) if is_kept else rows
        if isinstance(step, Window | Aggregate):
            return self.kept.rows(operator, rows, references(rows, (*step.group, *step.aggregate)))
        return rows


@contextmanager
def _with_errors_of_file(step: Step) -> Iterator[None]:
    """Turns Spark's refusal of a streaming operator into an error of the file."""
    try:
        yield
    except AnalysisException as error:
        raise refusal(step, error) from None


def _left_out(decoded: DataFrame, left_out: LeftOut, parts: Sequence[Part]) -> DataFrame:
    """Decoded records, of which some have the error that they had when their batch was first run."""
    place = {name: F.col(f"{POSITION}.{name}") for name in ("topic", "partition", "offset")}
    value_id = F.col(f"{POSITION}.schema_id")
    cases = [Case(is_one_of([fault], place), F.lit(fault.reason), F.lit(STEPS), value_id) for fault in left_out.faults]
    for item in left_out.unknown:
        guids = _guids(parts, item)
        number = guids.get(item.guid) if item.guid else item.schema_id
        if number is None:
            # Its records are broken in this plan, too.
            continue
        own = value_id
        if item.is_key:
            key, headers = (F.col(f"{POSITION}.{name}") for name in ("key", "headers"))
            own = schema_id(message_of(key, headers, is_key=True).by_id(guids))
        # Not the reason UNKNOWN, for which the registry would be asked.
        named = f"guid {item.guid}" if item.guid else f"id {number}"
        reason = F.lit(f"the registry had no schema {named} when the batch was first run")
        is_it = F.coalesce((place["topic"] == item.topic) & (own == number), F.lit(False))
        cases.append(Case(is_it, reason, F.lit("key" if item.is_key else "value"), own))
    return failing(decoded, cases)


def _guids(parts: Sequence[Part], item: UnknownId) -> Guids:
    """The ids of the guids in the keys or values of an unknown id's topic."""
    column = "key" if item.is_key else "value"
    # A pattern's part has no topics: it is the only one.
    plans = [
        part.plans[column] for part in parts if column in part.plans and (len(parts) == 1 or item.topic in part.topics)
    ]
    return {guid: number for source in plans for guid, number in source.plan.guids.items()}
