"""The state of a pipeline as a row among others, from its checkpoint and the broker; mostly without Spark."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.folder import ReadableFolder
from spark_avro.pipeline.run.health import reason_of
from spark_avro.pipeline.run.last_failure import LastFailure
from spark_avro.pipeline.run.lease import Owner
from spark_avro.pipeline.run.run_log import last_run
from spark_avro.pipeline.sources.checkpoint_reader import CheckpointReader, Offsets
from spark_avro.pipeline.sources.log_ends import log_ends
from spark_avro.pipeline.state.progress import StateProgress

#: Errors of a broker that does not answer; others are of a topic.
_NO_BROKER = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)  # noqa: SLF001 - its names


class State(StrEnum):
    """The state of a pipeline."""

    NEVER_RAN = "never ran"
    RUNNING = "running"
    #: It does not run, and has read all records.
    IDLE = "idle"
    #: It does not run, and there are records to read.
    BEHIND = "behind"
    #: It does not run, and the lag is not known.
    STOPPED = "stopped"
    #: Its last run failed or was killed.
    FAILED = "failed"
    #: Its checkpoint cannot be read.
    UNREADABLE = "unreadable"
    #: Its file is wrong.
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """A pipeline among others.

    Attributes:
        file: The file.
        name: The pipeline's name; empty if the file is broken.
        state: What it does.
        owner: The process that runs it.
        batch: The number of the last finished batch.
        batch_time: When that batch was finished, in ISO 8601.
        age: The seconds since then.
        lag: Records that are not read yet; None if there is no such number.
        watermark: The watermark of steps that remember rows.
        state_rows: The rows that these steps keep.
        problem: What is wrong.
    """

    file: str
    name: str
    state: State
    owner: str | None = None
    batch: int | None = None
    batch_time: str | None = None
    age: float | None = None
    lag: int | None = None
    watermark: str | None = None
    state_rows: int | None = None
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """The row for scripts."""
        return {**asdict(self), "state": str(self.state)}


@dataclass(slots=True)
class Overview:
    """Makes rows, and remembers brokers that do not answer.

    Attributes:
        folder_of: Returns the checkpoint of a pipeline.
        now: Returns the seconds since 1970.
        patience: Seconds for a request to a broker: a table does not wait long for one pipeline.
        unreachable: Why a broker gave no offsets, by its address.
    """

    folder_of: Callable[[Pipeline], ReadableFolder]
    now: Callable[[], float] = time.time
    patience: float = 10.0
    unreachable: dict[str, str] = field(default_factory=dict)

    def row(self, file: str, pipeline: Pipeline, missing: str = "") -> PipelineRow:
        """The row of a pipeline; an error is its problem.

        Args:
            file: The file, as it is shown.
            pipeline: The pipeline.
            missing: The placeholder without a value that keeps the broker out of reach; empty if there is none.
        """
        try:
            return self._row(file, pipeline, missing)
        except Exception as error:  # noqa: BLE001 - one checkpoint does not hide the others
            return PipelineRow(file, pipeline.name, State.UNREADABLE, problem=reason_of(error))

    def _row(self, file: str, pipeline: Pipeline, missing: str) -> PipelineRow:
        now = self.now()
        folder = self.folder_of(pipeline)
        checkpoint = CheckpointReader(folder)
        batch, finished = checkpoint.last_committed(), checkpoint.committed_at()
        ends: Offsets = checkpoint.ends(batch) if batch is not None else {}
        batch, finished = last_run(folder) or (batch, finished)
        lag, problem = self._lag(pipeline, ends, missing) if ends else (None, "")
        owner, failure = Owner.read(folder, now), LastFailure.read(folder)
        if owner is not None:
            state = State.FAILED if owner.problem else State.RUNNING
            problem = owner.problem or problem
        elif failure is not None:
            state, problem = State.FAILED, f"{failure.time}: {failure.reason}"
        elif batch is None and checkpoint.query_id() is None:
            state = State.NEVER_RAN
        elif problem:
            state = State.STOPPED
        else:
            state = State.BEHIND if lag else State.IDLE
        kept = StateProgress.read(folder)
        return PipelineRow(
            file,
            pipeline.name,
            state,
            owner.shown if owner is not None else None,
            batch,
            None if finished is None else datetime.fromtimestamp(finished, UTC).isoformat(timespec="seconds"),
            None if finished is None else max(0.0, round(now - finished, 1)),
            lag,
            kept.watermark if kept is not None else None,
            sum(operator.rows for operator in kept.operators) if kept is not None else None,
            problem,
        )

    def _lag(self, pipeline: Pipeline, ends: Offsets, missing: str) -> tuple[int | None, str]:
        """The number of records after some offsets, by one request to the broker; or why the number is not known."""
        if missing:
            return None, f"the lag is not known: {missing}"
        broker = pipeline.kafka.get("bootstrap.servers", "")
        if broker in self.unreachable:
            return None, self.unreachable[broker]
        places = {(topic, number): end for topic, parts in ends.items() for number, end in parts.items()}
        lag = 0
        try:
            for place, log_end in log_ends(pipeline, places, self.patience).items():
                if isinstance(log_end, KafkaError):
                    raise KafkaException(log_end)  # noqa: TRY301 - as errors of the settings
                lag += max(0, log_end - places[place])
        except KafkaException as error:
            problem = f"the lag is not known: {broker}: {error.args[0].str()}"
            if error.args[0].code() in _NO_BROKER:
                self.unreachable[broker] = problem
            return None, problem
        except Exception as error:  # noqa: BLE001 - wrong settings of the client do not make the checkpoint unreadable
            return None, f"the lag is not known: {reason_of(error)}"
        return lag, ""
