"""Steps that remember rows beside Spark's own plan by hand: the same files and operators, Parquet files as target.

Each turn adds files, and both ways read them, a file a batch. The state was filled before: with keys for `deduplicate`,
with rows of open windows for `window`. The figures are the seconds that Spark reports for each batch
(`triggerExecution`), without the first batch of each query, which reads the state from the disk. Printed are the median
and the middle half of the ratios (goal: at most 1.5), the rows of the state, and the memory of Python and of the JVM's
heap after the first and the last turn.

    make bench AREA=spark/state ARGS="--keys 2000000"
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

import spark_avro
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.session_settings import applied
from spark_avro.pipeline.state.progress import StateProgress
from spark_avro.pipeline.state.settings import state_settings

#: Step -> its lines in the file, and Spark's own plan.
STEPS: dict[str, tuple[dict[str, object], Callable[[DataFrame], DataFrame]]] = {
    "deduplicate": (
        {"deduplicate": {"by": "id", "time": "at", "within": "7d"}},
        lambda rows: rows.withWatermark("at", "7 days").dropDuplicatesWithinWatermark(["id"]),
    ),
    "window": (
        {"window": {"time": "at", "size": "1d", "late": "1d", "group": "id", "aggregate": "count(*) as n"}},
        lambda rows: (
            rows.withWatermark("at", "1 day").groupBy(F.window("at", "1 day"), "id").agg(F.count("*").alias("n"))
        ),
    ),
}


def write(spark: SparkSession, folder: Path, first: int, rows: int) -> None:
    """A file more: rows with new ids, whose times move on by a millisecond each."""
    made = spark.range(first, first + rows).withColumn("at", F.timestamp_millis(F.lit(1_700_000_000_000) + F.col("id")))
    made.coalesce(1).write.mode("append").parquet(str(folder))


def memory_mb(spark: SparkSession) -> tuple[float, float]:
    """The memory of this process, and what the JVM's heap has after a collection."""
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6
    java: Any = spark.sparkContext._jvm  # noqa: SLF001  PySpark has no public name for it
    java.System.gc()
    runtime = java.Runtime.getRuntime()
    return resident, (runtime.totalMemory() - runtime.freeMemory()) / 1e6


def measure(spark: SparkSession, step: str, keys: int, rows: int, files: int, repeats: int, folder: Path) -> None:
    """Fill the state, and then run both ways in turn."""
    declared, plan = STEPS[step]
    source = folder / "source"
    states: list[StateProgress] = []

    def by_hand() -> Any:
        stream = spark.readStream.schema("id long, at timestamp").option("maxFilesPerTrigger", "1").parquet(str(source))
        writer = plan(stream).writeStream.format("parquet").option("checkpointLocation", f"{folder}/hand-checkpoint")
        with applied(spark, state_settings(spark, {})):
            query = writer.option("path", f"{folder}/hand").trigger(availableNow=True).start()
        query.awaitTermination()
        return query

    file = folder / "pipeline.yaml"
    file.write_text(
        yaml.safe_dump(
            {
                "version": 1,
                "name": f"bench-{step}",
                "checkpoint": f"{folder}/file-checkpoint",
                "source": {"files": {"path": str(source), "limit": 1}},
                "steps": [declared],
                "sink": {
                    "files": {
                        "path": f"{folder}/file",
                        "partition": [],
                        "time": "at" if step != "window" else "window_start",
                    }
                },
            }
        )
    )

    def by_file() -> Any:
        queries: list[Any] = []
        pipeline = spark_avro.pipeline(file).file
        Running(pipeline, spark, on_batch=lambda _: queries.extend(spark.streams.active), on_state=states.append).run()
        return queries[0]

    ways: dict[str, Callable[[], Any]] = {"by hand": by_hand, "a pipeline's file": by_file}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    memory: list[tuple[float, float]] = []
    write(spark, source, 0, keys)
    first = keys
    for turn in range(repeats + 1):
        for name, way in ways.items() if turn % 2 else reversed(ways.items()):
            progress = way().recentProgress
            if turn:
                whole = [batch["durationMs"]["triggerExecution"] for batch in progress if batch["numInputRows"]]
                taken[name].append(statistics.median(whole[1:]) / 1000)
        memory.append(memory_mb(spark))
        for _ in range(files):
            write(spark, source, first, rows)
            first += rows
    ratios = sorted(ours / hand for hand, ours in zip(taken["by hand"], taken["a pipeline's file"], strict=True))
    held = sum(operator.rows for operator in states[-1].operators)
    for name, seconds in taken.items():
        print(f"{step:12} {name:20} {statistics.median(seconds):8.2f} s a batch of {rows:,}", flush=True)
    quarter = len(ratios) // 4
    print(
        f"{step:12} {statistics.median(ratios):.2f} x ({ratios[quarter]:.2f} to {ratios[-1 - quarter]:.2f}) of by hand,"
        f" goal 1.5; {held:,} rows of state",
        flush=True,
    )
    (python, heap), (python_at_end, heap_at_end) = memory[0], memory[-1]
    print(
        f"{step:12} Python {python:.0f} -> {python_at_end:.0f} MB, heap {heap:.0f} -> {heap_at_end:.0f} MB (first turn,"
        " last turn)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000, help="rows in the state before the first turn")
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--files", type=int, default=4, help="batches of a turn; the first does not count")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=STEPS)
    options = parser.parse_args()
    if options.files < 2:
        parser.error("--files: the first batch does not count, so at least 2")
    settings = {"spark.driver.memory": "2g", "spark.log.level": "OFF"}
    spark = spark_avro.session("bench", master="local[2]", settings=settings)
    for step in [options.only] if options.only else STEPS:
        with tempfile.TemporaryDirectory() as folder:
            measure(spark, step, options.keys, options.rows, options.files, options.repeats, Path(folder))
    spark.stop()


if __name__ == "__main__":
    main()
