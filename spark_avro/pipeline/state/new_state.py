"""`run --new-state`: Spark begins with empty state, at the offsets of the last finished batch."""

from __future__ import annotations

import logging

from spark_avro.pipeline.batch.prepared import Opened
from spark_avro.pipeline.file.source import KafkaSource
from spark_avro.pipeline.file.steps import Aggregate, Window
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.state.settings import state_settings

log = logging.getLogger(__name__)


def begin_new_state(opened: Opened, checkpoint: Checkpoint) -> None:
    """Let the checkpoint begin a query with empty state; id, batch numbers and markers go on.

    Raises:
        PipelineError: the source has no offsets at which another query could begin.
    """
    if not isinstance(opened.pipeline.source, KafkaSource):
        raise opened.pipeline.error(
            "source", "--new-state needs a source of Kafka; for other sources, begin with a new checkpoint"
        )
    if not checkpoint.has_batches():
        log.info(
            "--new-state: no batch was planned since the state is new; nothing changes",
            extra={"event": "state_unchanged"},
        )
        return
    watermark, committed = checkpoint.watermark(), checkpoint.last_committed()
    starts = checkpoint.starts() if committed is None else checkpoint.ends(committed)
    # Tables are read again from their beginning: they were in the state.
    tables = opened.source.table_topics
    # If they are not loaded yet, the batches have no offsets of the other topics.
    starts = {**checkpoint.first_offsets(), **starts}
    starts = {topic: offsets for topic, offsets in starts.items() if topic not in tables}
    checkpoint.begin_anew(starts, state_settings(opened.spark, opened.pipeline.spark))
    log.warning(
        "the state is new: rows before batch %s are forgotten",
        "0" if committed is None else committed + 1,
        extra={"event": "state_new"},
    )
    for step in opened.pipeline.steps:
        if isinstance(step, Window):
            since = (
                f"that end after {watermark:%Y-%m-%dT%H:%M:%SZ}" if watermark else "that have rows of earlier batches"
            )
            log.warning(
                "%s: windows %s will be incomplete", step.origin.setting, since, extra={"event": "windows_incomplete"}
            )
        if isinstance(step, Window | Aggregate) and step.emit == "each-batch":
            log.warning(
                "%s: groups begin at nothing, and replace those in the target",
                step.origin.setting,
                extra={"event": "groups_reset"},
            )
