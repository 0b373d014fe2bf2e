"""The settings of Spark's state: RocksDB, with a log of changes for each batch instead of a copy of its files."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

#: Spark pins the provider and the number of partitions in the checkpoint; the other settings may change.
_SETTINGS = {
    PROVIDER: _ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # With these rules, state has the columns that later steps use, and a later step that uses others would read theirs.
    "spark.sql.optimizer.excludedRules": ",".join(
        f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in ("ColumnPruning", "CollapseProject")
    ),
}


def state_settings(spark: SparkSession, chosen: Mapping[str, str]) -> dict[str, str]:
    """The settings of a query that begins.

    Args:
        spark: The session.
        chosen: The properties in the pipeline's file, which win.
    """
    # Two tasks for each core: a partition is a store of its own, with a fixed cost for each batch.
    partitions = {PARTITIONS: str(2 * spark.sparkContext.defaultParallelism)}
    return {name: chosen.get(name, value) for name, value in {**_SETTINGS, **partitions}.items()}
