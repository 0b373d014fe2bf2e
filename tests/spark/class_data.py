"""The class data archive of Spark's drivers (AppCDS), which tests share: a driver starts with a third of the CPU.

Spark's launcher gives the options in SPARK_SUBMIT_OPTS to the JVM of each driver that a test or its processes start.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pyspark

from magicbyte.kit.failure import cache_folder
from magicbyte.platform.java import Java, find_spark_java

#: For a driver of seconds: no concurrent collector, only the quick compiler.
_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
#: Loads what most pipelines load: batches and a stream, files, JSON, aggregates and joins.
_TRAINING = """
import sys
import spark_avro

spark = spark_avro.session("training", master="local[2]", settings={"spark.log.level": "OFF"})
rows = spark.range(100).selectExpr("id", "id % 7 as k", "to_json(named_struct('a', id)) as j", "array(id) as l")
rows.write.mode("overwrite").parquet(sys.argv[1] + "/rows")
read = spark.read.parquet(sys.argv[1] + "/rows")
joined = read.join(rows.groupBy("k").count(), "k").orderBy("id")
joined.selectExpr("from_json(j, 'a long') as a", "explode(l)").collect()
stream = spark.readStream.schema(read.schema).parquet(sys.argv[1] + "/rows").writeStream
query = stream.foreachBatch(lambda batch, number: batch.count())
query = query.option("checkpointLocation", sys.argv[1] + "/checkpoint")
query.trigger(availableNow=True).start().awaitTermination()
spark.stop()
"""


def driver_options(folder: Path) -> str:
    """The value of SPARK_SUBMIT_OPTS; makes the archive if this environment has none (half a minute).

    Args:
        folder: An empty folder, for what the training writes.
    """
    java = find_spark_java()
    archive = cache_folder() / "class-data" / f"spark-{_key(java)}.jsa"
    archive.parent.mkdir(parents=True, exist_ok=True)
    with (archive.parent / "spark-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            _make(archive, folder)
    # An empty file means that the JVM could not make an archive.
    archived = (f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:disable") if archive.stat().st_size else ()
    return " ".join([*_OPTIONS, *archived])


def _key(java: Java) -> str:
    """Hash what the JVM checks before it uses an archive: itself, its options, each jar's path and time."""
    stat = java.executable.stat()
    jars = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    parts = [str(java.executable.resolve()), str(stat.st_size), str(stat.st_mtime_ns), *_OPTIONS, _TRAINING]
    parts += [f"{jar}:{jar.stat().st_mtime_ns}" for jar in jars]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _make(archive: Path, folder: Path) -> None:
    unfinished = archive.with_suffix(".unfinished")
    options = " ".join([*_OPTIONS, f"-XX:ArchiveClassesAtExit={unfinished}", "-Xlog:disable"])
    subprocess.run(
        [sys.executable, "-P", "-c", _TRAINING, folder],
        env=os.environ | {"SPARK_SUBMIT_OPTS": options},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    unfinished.touch()
    unfinished.replace(archive)
