"""Runs pipelines that remember rows in one driver, which kills itself with -9 at a named point of one of them.

python tests/chaos/kit/state_crashing.py FILE... [--crash PIPELINE:POINT] [--until-caught-up] [--new-state]

Points of a batch: `materialised` when Spark has committed the state, and no sink has the rows; `letters` after the dead
letters and before the first sink; `sink-1` and `sink-2` after a sink of a batch with rows; `faults` when the records
that make a step fail are noted. Points of `--new-state`: `pointer-before` and `pointer-after` the pointer to the new
query is replaced; `aligned` when the new query's first batch is ready for Spark.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import traceback
from collections.abc import Callable
from typing import Any

import spark_avro
from spark_avro.pipeline.batch.writer import BatchWriter
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.state.faults import FaultLog
from spark_avro.pipeline.state.materialised_batch import StateBatch

#: Whether a call is the one to die at: the pipeline's name and the call's arguments -> true.
Test = Callable[..., bool]
POINTER = "_magicbyte/query.json"


def _die() -> None:
    os.killpg(0, signal.SIGKILL)


def _die_at(owner: Any, method: str, is_it: Test, *, before: bool = False, calls: int = 1) -> Callable[[str], None]:
    """Returns what has a driver killed at a call of a method."""

    def install(pipeline: str) -> None:
        original, left = getattr(owner, method), [calls]

        def counted(*arguments: Any, **named: Any) -> Any:
            is_call = is_it(pipeline, *arguments)
            if before and is_call and left[0] == 1:
                _die()
            result = original(*arguments, **named)
            # A call that raises does not count: a batch may begin with a record that makes a step fail.
            left[0] -= is_call
            if is_call and left[0] == 0:
                _die()
            return result

        is_static = isinstance(owner.__dict__[method], staticmethod)
        setattr(owner, method, staticmethod(counted) if is_static else counted)

    return install


def _of_writer(name: str, writer: Any, *_: Any) -> bool:
    return str(writer.opened.pipeline.name) == name


def _with_rows(name: str, writer: Any, _sink: Any, transformed: Any, *_: Any) -> bool:
    return _of_writer(name, writer) and transformed.passed_count > 0


def _of_opened(name: str, opened: Any, *_: Any) -> bool:
    return str(opened.pipeline.name) == name


def _of_faults(name: str, faults: Any, *_: Any) -> bool:
    return f"/{name}/" in faults._folder.path


def _of_pointer(name: str, folder: Any, relative: str, *_: Any) -> bool:
    return relative == POINTER and f"/{name}/" in folder.path


def _of_checkpoint(name: str, checkpoint: Any, *_: Any) -> bool:
    return f"/{name}/" in checkpoint.folder.path


POINTS = {
    "materialised": _die_at(StateBatch, "materialised", _of_opened),
    "letters": _die_at(BatchWriter, "_send", _of_writer),
    "sink-1": _die_at(BatchWriter, "_to_sink", _with_rows),
    "sink-2": _die_at(BatchWriter, "_to_sink", _with_rows, calls=2),
    "faults": _die_at(FaultLog, "note", _of_faults),
    "pointer-before": _die_at(Folder, "replace", _of_pointer, before=True),
    "pointer-after": _die_at(Folder, "replace", _of_pointer),
    "aligned": _die_at(Checkpoint, "align_sources", _of_checkpoint),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--crash", default="")
    parser.add_argument("--until-caught-up", action="store_true")
    parser.add_argument("--new-state", action="store_true")
    options = parser.parse_args()
    if options.crash:
        name, _, point = options.crash.partition(":")
        POINTS[point](name)
    pipelines = [spark_avro.pipeline(file).file for file in options.files]
    spark = spark_avro.session("state", master="local[2]", settings=pipelines[0].spark)

    def run(running: Running) -> None:
        try:
            running.run()
        except BaseException:  # noqa: BLE001 - one failure ends the driver
            traceback.print_exc()
            os._exit(1)

    # Sessions of their own: a pipeline sets properties of its session when its query starts.
    runs = [
        Running(pipeline, spark.newSession(), new_state=options.new_state, until_caught_up=options.until_caught_up)
        for pipeline in pipelines
    ]
    threads = [threading.Thread(target=run, args=(running,)) for running in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spark.stop()


if __name__ == "__main__":
    main()
