from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as spark
from pyspark.sql.pandas import types as pyspark_types

from magicbyte.platform.jars import TableFormatMissing
from spark_avro import packages
from spark_avro.plan.arrow_type import arrow_type
from spark_avro.spark_session import format_properties, modules


def test_session_takes_its_modules_from_the_lock_file_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAGICBYTE_SPARK_JARS", raising=False)
    monkeypatch.setattr(pyspark, "__version__", "4.0.0")
    names = [path.rpartition("/")[2] for path in modules()["spark.jars"].split(",")]
    assert [name.rpartition("-")[0] for name in names] == [
        "commons-pool2-2.12.0",
        "kafka-clients-3.9.0",
        "spark-avro_2.13-4.0.0",
        "spark-sql-kafka-0-10_2.13-4.0.0",
        "spark-token-provider-kafka-0-10_2.13-4.0.0",
    ]
    monkeypatch.setenv("MAGICBYTE_SPARK_JARS", "/a.jar,/b.jar")
    assert modules() == {"spark.jars": "/a.jar,/b.jar"}


@pytest.mark.parametrize(
    ("version", "coordinates"),
    [
        ("3.5.1", "org.apache.spark:spark-avro_2.12:3.5.1,org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.1"),
        ("4.0.1", "org.apache.spark:spark-avro_2.13:4.0.1,org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.1"),
        ("4.1.2", "org.apache.spark:spark-avro_2.13:4.1.2,org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3"),
        ("4.1.4", "org.apache.spark:spark-avro_2.13:4.1.4,org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.4"),
    ],
)
def test_without_a_lock_file_spark_fetches_the_modules(
    monkeypatch: pytest.MonkeyPatch, version: str, coordinates: str
) -> None:
    monkeypatch.delenv("MAGICBYTE_SPARK_JARS", raising=False)
    monkeypatch.setattr(pyspark, "__version__", version)
    assert packages(version) == coordinates
    assert modules() == {"spark.jars.packages": coordinates}


def test_a_table_format_brings_its_jars_and_its_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAGICBYTE_SPARK_JARS", raising=False)
    monkeypatch.setattr(pyspark, "__version__", "4.0.0")
    names = [path.rpartition("/")[2] for path in modules(["delta", "iceberg"])["spark.jars"].split(",")]
    assert [name.rpartition("-")[0] for name in names[-3:]] == [
        "delta-spark_2.13-4.0.0",
        "delta-storage-4.0.0",
        "iceberg-spark-runtime-4.0_2.13-1.10.1",
    ]
    assert format_properties(["delta"]) == {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    assert packages("4.0.0", ["delta"]).endswith(",io.delta:delta-spark_2.13:4.0.0")


def test_a_local_task_hands_its_result_over_without_a_socket(spark: SparkSession) -> None:
    assert spark.sparkContext.getConf().get("spark.task.maxDirectResultSize") == "32m"


def test_a_table_format_without_a_module_for_this_spark_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAGICBYTE_SPARK_JARS", raising=False)
    monkeypatch.setattr(pyspark, "__version__", "4.3.0")
    with pytest.raises(TableFormatMissing, match=r"Delta tables need PySpark 3\.5, 4\.0 or 4\.1, and 4\.3\.0 is"):
        modules(["delta"])


def test_a_spark_whose_modules_are_not_there_is_told_in_one_sentence(tmp_path: Path) -> None:
    """Spark's start script ends if it cannot fetch a module; this one always ends."""
    script = tmp_path / "bin" / "spark-submit"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    program = (
        "import pyspark, spark_avro\npyspark.__version__ = '4.0.9'\n"
        "try:\n    spark_avro.session()\nexcept Exception as error:\n    print(type(error).__name__, error)\n"
    )
    environment = {**os.environ, "SPARK_HOME": str(tmp_path)}
    environment.pop("MAGICBYTE_SPARK_JARS", None)
    run = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    sentence = "the modules for PySpark 4.0.9 are not known here: Spark asks Maven Central for "
    assert run.stdout.startswith(f"JarsMissing Spark did not start: {sentence}")
    assert run.stderr.startswith(sentence)


KINDS = (
    spark.NullType(),
    spark.BooleanType(),
    spark.IntegerType(),
    spark.LongType(),
    spark.FloatType(),
    spark.DoubleType(),
    spark.StringType(),
    spark.BinaryType(),
    spark.DateType(),
    spark.TimestampType(),
    spark.TimestampNTZType(),
    spark.DecimalType(20, 3),
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.simpleString())
def test_the_arrow_type_is_the_one_that_pyspark_gives(kind: spark.DataType, spark_version: tuple[int, int]) -> None:
    # pyarrow 26 refuses a null type that may not be null.
    nullable = isinstance(kind, spark.NullType)
    nested = spark.StructType(
        [
            spark.StructField("one", kind),
            spark.StructField("list", spark.ArrayType(kind), nullable=False),
            spark.StructField("map", spark.MapType(spark.StringType(), kind, valueContainsNull=nullable)),
        ]
    )
    # Later versions of PySpark want to be told the time zone.
    options = {"timezone": "UTC"} if spark_version >= (4, 2) else {}
    assert arrow_type(nested) == pyspark_types.to_arrow_type(nested, **options)
