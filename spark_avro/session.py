"""A Spark session that can do what this package does: the jars, the Java and the Python it needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import pyspark
from pyspark.sql import SparkSession

from magicbyte import jars
from magicbyte.java import find_spark_java

#: The Spark whose jars our lock file has; with another, Spark fetches its own by `--packages`.
LOCKED_SPARK = "4.0.0"

#: What Avro's reader in the JVM refuses to allocate for one value, in bytes or items: a broken record that claims a
#: string of a gigabyte would otherwise end the executor, and not only itself.
LARGEST_VALUE = 2**27

_LIMITS = " ".join(
    f"-Dorg.apache.avro.limits.{what}.maxLength={LARGEST_VALUE}" for what in ("bytes", "string", "collectionItems")
)

_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def packages(version: str = pyspark.__version__) -> str:
    """The value of `--packages` and `spark.jars.packages` for a Spark version: its Avro and Kafka modules."""
    scala = "2.12" if version.startswith("3.") else "2.13"
    return ",".join(f"org.apache.spark:{name}_{scala}:{version}" for name in ("spark-avro", "spark-sql-kafka-0-10"))


def session(
    name: str = "magicbyte", *, master: str = "local[*]", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """The Spark session of this process, started if there is none, with Spark's Avro and Kafka modules.

    Args:
        name: The application's name.
        master: Where it runs: `local[*]`, or a cluster's address. The defaults here suit a driver on this machine;
            `settings` go over them.
        settings: Spark properties.

    Raises:
        JavaMissing: there is no JDK that Spark runs on.
        JarsMissing: the jars are not in the cache and could not be fetched.
    """
    os.environ["JAVA_HOME"] = str(find_spark_java().home)
    # Workers of another Python than the driver's fail on the first task.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).master(master)
    properties = {**_DEFAULTS, **_modules(), **(settings or {})}
    for key in ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"):
        properties[key] = f"{_LIMITS} {properties.get(key, '')}".strip()
    for key, value in properties.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _modules() -> dict[str, str]:
    if pyspark.__version__ == LOCKED_SPARK:
        return {"spark.jars": ",".join(map(str, jars.paths("spark")))}
    return {"spark.jars.packages": packages()}
