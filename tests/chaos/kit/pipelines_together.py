"""Runs several pipelines in one driver, each in a thread of its own, so that one kill hits all of them.

python tests/chaos/kit/pipelines_together.py FILE... [--until-caught-up] [--die PIPELINE:STEP]

With `--die` the driver kills itself with -9 at a step of a pipeline's batches: the STEP-th call of a function of
`spark_avro.pipeline` since the start. Each place between two actions of a batch is one of these steps.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

import spark_avro
from spark_avro.pipeline.batch.runner import BatchRunner
from spark_avro.pipeline.modules import table_formats
from spark_avro.pipeline.run.running import Running

_PACKAGE = str(Path(str(spark_avro.__file__)).parent / "pipeline") + os.sep


def die_at(pipeline: str, step: int) -> None:
    """Have this driver killed at a step of a pipeline's batches."""
    left = [step]
    run = BatchRunner.run

    def count(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and _PACKAGE in frame.f_code.co_filename:
            left[0] -= 1
            if left[0] == 0:
                os.killpg(0, signal.SIGKILL)

    def counted(self: BatchRunner, *arguments: Any) -> Any:
        if self.opened.pipeline.name != pipeline:
            return run(self, *arguments)
        sys.setprofile(count)
        try:
            return run(self, *arguments)
        finally:
            sys.setprofile(None)

    BatchRunner.run = counted  # type: ignore[method-assign, assignment]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--until-caught-up", action="store_true")
    parser.add_argument("--die", default="")
    options = parser.parse_args()
    if options.die:
        name, _, step = options.die.partition(":")
        die_at(name, int(step))
    pipelines = [spark_avro.pipeline(file).file for file in options.files]
    formats = sorted({name for pipeline in pipelines for name in table_formats(pipeline)})
    spark = spark_avro.session("together", master="local[2]", settings=pipelines[0].spark, formats=formats)

    def run(running: Running) -> None:
        try:
            running.run()
        except BaseException:  # noqa: BLE001 - one failure ends the driver
            traceback.print_exc()
            os._exit(1)

    runs = [Running(pipeline, spark, until_caught_up=options.until_caught_up) for pipeline in pipelines]
    threads = [threading.Thread(target=run, args=(running,)) for running in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spark.stop()


if __name__ == "__main__":
    main()
