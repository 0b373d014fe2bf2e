"""Steps that remember rows beside Spark's own plan by hand: the same files and operators, Parquet files as target.

Each turn adds files, and both ways read them, a file a batch. The state was filled before: with keys for `deduplicate`,
with rows of open windows for `window`. Printed are the median and the middle half of the ratios of seconds (goal: at
most 1.5), and the rows of the state.

    make bench AREA=spark/state ARGS="--keys 2000000"
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

import spark_avro
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.state.progress import StateProgress
from spark_avro.pipeline.state.settings import applied, state_settings

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


def measure(spark: SparkSession, step: str, keys: int, rows: int, files: int, repeats: int, folder: Path) -> None:
    """Fill the state, and then run both ways in turn."""
    declared, plan = STEPS[step]
    source = folder / "source"
    states: list[StateProgress] = []

    def by_hand() -> None:
        stream = spark.readStream.schema("id long, at timestamp").option("maxFilesPerTrigger", "1").parquet(str(source))
        writer = plan(stream).writeStream.format("parquet").option("checkpointLocation", f"{folder}/hand-checkpoint")
        with applied(spark, state_settings(spark, {})):
            query = writer.option("path", f"{folder}/hand").trigger(availableNow=True).start()
        query.awaitTermination()

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

    def by_file() -> None:
        Running(spark_avro.pipeline(file).file, spark, on_state=states.append).run()

    ways = {"by hand": by_hand, "a pipeline's file": by_file}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    write(spark, source, 0, keys)
    first = keys
    for turn in range(repeats + 1):
        for name, way in ways.items() if turn % 2 else reversed(ways.items()):
            start = time.perf_counter()
            way()
            if turn:
                taken[name].append(time.perf_counter() - start)
        for _ in range(files):
            write(spark, source, first, rows)
            first += rows
    ratios = sorted(ours / hand for hand, ours in zip(taken["by hand"], taken["a pipeline's file"], strict=True))
    held = sum(operator.rows for operator in states[-1].operators)
    for name, seconds in taken.items():
        print(f"{step:12} {name:20} {statistics.median(seconds) / files:8.2f} s a batch of {rows:,}", flush=True)
    quarter = len(ratios) // 4
    print(
        f"{step:12} {statistics.median(ratios):.2f} x ({ratios[quarter]:.2f} to {ratios[-1 - quarter]:.2f}) of by hand,"
        f" goal 1.5; {held:,} rows of state",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000, help="rows in the state before the first turn")
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--files", type=int, default=3, help="batches of a turn")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=STEPS)
    options = parser.parse_args()
    settings = {"spark.driver.memory": "2g", "spark.log.level": "OFF"}
    spark = spark_avro.session("bench", master="local[2]", settings=settings)
    for step in [options.only] if options.only else STEPS:
        with tempfile.TemporaryDirectory() as folder:
            measure(spark, step, options.keys, options.rows, options.files, options.repeats, Path(folder))
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
