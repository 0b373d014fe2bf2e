"""Fuzzing of steps that remember rows: random pipelines over random records in random batches, against plain Python.

Run `python tests/fuzz/fuzz_pipeline_state.py --cases 200 --seed 12`; a failure prints the seed of its case. The test
suite runs the cases 0 to 11. It needs a JDK and a broker, which it starts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from pathlib import Path
from unittest.mock import Mock

import spark_avro
from magicbyte.testing import temporary_broker
from spark_avro.pipeline import sinks
from tests.spark.conftest import Topics
from tests.spark.pipeline.flights import ListSink
from tests.spark.pipeline.state.test_oracle import check


def main() -> int:
    """Run the cases; 0 if the rows of all of them were right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=12, help="the seed of the first case")
    options = parser.parse_args()
    settings = {"spark.driver.memory": "1g", "spark.log.level": "OFF", "spark.ui.enabled": "false"}
    spark = spark_avro.session("fuzz", master="local[2]", settings=settings)
    wrong = []
    opened = sinks.open_sink
    with temporary_broker() as broker:
        topics = Topics(broker.bootstrap_servers)
        for seed in range(options.seed, options.seed + options.cases):
            sink = ListSink()
            sinks.open_sink = Mock(return_value=sink)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(seed, spark, topics, sink, Path(folder))
                except Exception:  # noqa: BLE001  the next cases are run, too
                    wrong.append(seed)
                    print(f"case {seed}\n{traceback.format_exc()}", flush=True)
        sinks.open_sink = opened
    spark.stop()
    print(f"{options.cases} cases from seed {options.seed}; wrong: {wrong or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
