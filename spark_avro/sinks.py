"""Sinks for a followed stream's batches: Parquet, a topic, a database. A sink takes the rows and the batch's number.

They use public functions of Spark alone, so they also work over Spark Connect. The sinks of pipelines commit files by
manifests, and need the session's own JVM.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.stored_values import exact_files
from spark_avro.streams.batch_folder import batch_folder
from spark_avro.streams.dead_letters import to_dead_letters
from spark_avro.streams.following import Write


def parquet(folder: str, column: str | None = "value", *, query: str | None = None) -> Write:
    """Writes each batch to `<folder>/batch=<query id>-<number>`, and replaces the files of a crashed attempt.

    So each row is written once, and several queries can write to one folder.

    Args:
        folder: Any folder that Spark can write to; read it with the option `mergeSchema` if schemas evolve.
        column: The struct whose fields become separate columns beside the source's; None to keep the struct.
        query: The query's name in the folders, a different one for each checkpoint; None for Spark's id of the query,
            which Spark Connect does not offer.
    """

    def write(rows: DataFrame, batch: int) -> None:
        kept = [name for name in rows.columns if name not in (column, "key", "headers")]
        flat = rows if column is None else rows.select(*kept, f"{column}.*")
        with exact_files(rows.sparkSession):
            flat.write.mode("overwrite").parquet(batch_folder(folder, rows, batch, query))

    return write


def table(folder: str, name: str = "spark", subject: str | None = None, *, query: str | None = None) -> Write:
    """Writes each batch's dead letters to Parquet, each once: place, reason, id and raw bytes.

    Args:
        folder: Any folder that Spark can write to.
        name: The application's name, for the column `application`.
        subject: The subject that was decoded, for the column `subject`.
        query: As for `parquet`.
    """

    def write(rows: DataFrame, batch: int) -> None:
        place = [column for column in ("topic", "partition", "offset", "timestamp", "key") if column in rows.columns]
        constants = [F.lit(name).alias("application"), F.lit(subject).cast("string").alias("subject")]
        letters = rows.select(*place, "error.reason", "error.id", "error.raw", *constants)
        with exact_files(rows.sparkSession):
            letters.write.mode("overwrite").parquet(batch_folder(folder, rows, batch, query))

    return write


def dead_letter_topic(
    bootstrap_servers: str,
    topic: str,
    name: str = "spark",
    subject: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Write:
    """Writes dead letters to a topic: key, original bytes, and the headers of `serdes.letters.headers`.

    A batch that is repeated after a crash is written again: topic, partition and offset identify a duplicate letter.
    """

    def write(rows: DataFrame, _batch: int) -> None:
        letters = to_dead_letters(rows, name, subject=subject)
        _to_kafka(letters, bootstrap_servers, topic, options)

    return write


def _to_kafka(rows: DataFrame, servers: str, topic: str, options: Mapping[str, str] | None) -> None:
    writer = rows.write.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", topic)
    writer.options(**(options or {})).save()


def jdbc(url: str, name: str, column: str = "value", properties: Mapping[str, str] | None = None) -> Write:
    """Appends each batch to a database's table: the struct's fields, with topic, partition and offset.

    A batch that is repeated after a crash is written again: a unique key on topic, partition and offset refuses the
    duplicates.
    """

    def write(rows: DataFrame, _batch: int) -> None:
        place = [name for name in ("topic", "partition", "offset") if name in rows.columns]
        rows.select(f"{column}.*", *place).write.jdbc(url, name, mode="append", properties=dict(properties or {}))

    return write
