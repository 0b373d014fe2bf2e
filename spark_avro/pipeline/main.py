"""The program that spark-submit runs: `spark-submit .. main.py FILE [--set NAME=VALUE] [--name NAME] ..`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path
from types import FrameType

from magicbyte.kit.processes.stop_signals import handle_stop_signals


def main() -> int:
    """Run a pipeline on the session that spark-submit has set up; returns the exit code."""
    # Spark puts this file's folder on the path; the names of its modules may hide other packages.
    sys.path[:] = [folder for folder in sys.path if Path(folder) != Path(__file__).parent]
    from pyspark.sql import SparkSession  # noqa: PLC0415 - after --help

    from spark_avro.pipeline.file.place import PipelineError  # noqa: PLC0415
    from spark_avro.pipeline.file.reading import read_pipeline  # noqa: PLC0415
    from spark_avro.pipeline.run.health import Health, limit_kind, longest_batch  # noqa: PLC0415
    from spark_avro.pipeline.run.log_form import FORMS, set_up_run_logs  # noqa: PLC0415
    from spark_avro.pipeline.run.metrics import PipelineMetrics  # noqa: PLC0415
    from spark_avro.pipeline.run.running import Running  # noqa: PLC0415
    from spark_avro.pipeline.run.stack_traces import LOG_LEVEL, hide_stack_traces  # noqa: PLC0415
    from spark_avro.spark_session import java_options  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--name", metavar="NAME")
    parser.add_argument("--until-caught-up", action="store_true")
    parser.add_argument("--new-state", action="store_true")
    parser.add_argument("--metrics", metavar="[HOST]:PORT|FILE")
    parser.add_argument("--log-format", choices=FORMS, default=FORMS[0])
    parser.add_argument("--unhealthy-after", type=limit_kind().convert, metavar="TIME")
    options = parser.parse_args()
    set_up_run_logs(options.log_format, options.name or Path(options.file).stem)
    try:
        pipeline = read_pipeline(options.file, name=options.name, overrides=options.overrides)
    except PipelineError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    builder = SparkSession.builder
    # The file's Java options would replace those of the command line, which have limits.
    limited = {name: value for name, value in java_options(pipeline.spark).items() if name in pipeline.spark}
    for name, value in {**pipeline.spark, **limited}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    if LOG_LEVEL not in pipeline.spark:
        hide_stack_traces(spark)
    health = Health(options.unhealthy_after or longest_batch(pipeline))
    with closing(PipelineMetrics(pipeline.name, options.metrics, health)) as metrics, health.of_run():
        metrics.describe(options.file, pipeline)
        running = Running(
            pipeline,
            spark,
            new_state=options.new_state,
            until_caught_up=options.until_caught_up,
            on_batch=metrics.add,
            on_restart=metrics.restarted,
            on_state=metrics.add_state,
            health=health,
        )

        def stop(_number: int, _frame: FrameType | None) -> None:
            running.stop()

        handle_stop_signals(stop)
        result = running.run()
    sys.stdout.write(f"{pipeline.name}: {result.batches} batches, {result.read} read, {result.written} written\n")
    return 100 if result.findings else 0


if __name__ == "__main__":
    sys.exit(main())
