"""`run`: runs a pipeline until its end, or after a stop signal until the batch ends."""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import closing
from dataclasses import replace
from types import FrameType
from typing import Any

from magicbyte.cli.pipeline.outcome import FINDINGS, INTERRUPTED, PROGRAM
from magicbyte.cli.pipeline.session import converted, pipeline_session, read_file, time_of
from magicbyte.kit.processes.stop_signals import STOP_SIGNALS, handle_stop_signals
from serdes.console.outcome import tell


def run(options: argparse.Namespace) -> int:
    """Run the pipeline; returns the exit code."""
    pipeline = read_file(options)
    if options.instance:
        name = f"{pipeline.name}-{options.instance}"
        pipeline = replace(pipeline, name=name, checkpoint=f"{pipeline.checkpoint}-{options.instance}")
    from spark_avro.pipeline.run.health import Health, limit_kind, longest_batch  # noqa: PLC0415 - with Spark
    from spark_avro.pipeline.run.log_form import set_up_run_logs  # noqa: PLC0415
    from spark_avro.pipeline.run.metrics import PipelineMetrics  # noqa: PLC0415
    from spark_avro.pipeline.run.running import Running  # noqa: PLC0415
    from spark_avro.pipeline.run.watchdog import watchdog  # noqa: PLC0415

    set_up_run_logs(options.log_format, pipeline.name)
    limit = converted("--unhealthy-after", options.unhealthy_after, limit_kind(), "a time such as 30m")
    health = Health(limit or longest_batch(pipeline))
    # The port answers until the session has ended, so that a probe sees why the run failed.
    with (
        closing(PipelineMetrics(pipeline.name, options.metrics, health)) as metrics,
        watchdog(lambda: health.report().healthy),
        pipeline_session(pipeline, options.master) as spark,
        health.of_run(),
    ):
        metrics.describe(str(options.file), pipeline)
        running = Running(
            pipeline,
            spark,
            adopt=options.adopt,
            new_state=options.new_state,
            until_caught_up=options.until_caught_up,
            on_batch=metrics.add,
            on_restart=metrics.restarted,
            on_state=metrics.add_state,
            health=health,
        )
        received: list[int] = []

        def stop(number: int, _frame: FrameType | None) -> Any:
            received.append(number)
            running.stop()

        before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        handle_stop_signals(stop)
        try:
            result = _over_range(running, options) if options.since or options.until else running.run()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    sys.stdout.write(f"{pipeline.name}: {result.batches} batches, {result.line()}\n")
    for finding in result.findings:
        tell(PROGRAM, finding)
    if result.findings:
        return FINDINGS
    return INTERRUPTED if received and received[0] == signal.SIGINT else 0


def _over_range(running: Any, options: argparse.Namespace) -> Any:
    """One batch over the records between two times, beside the checkpoint."""
    from spark_avro.pipeline.sources.time_range import range_id, ranges_between  # noqa: PLC0415 - with Spark

    ranges = ranges_between(running.spark, running.pipeline, time_of(options.since), time_of(options.until))
    return running.run_range(ranges, range_id(ranges))
