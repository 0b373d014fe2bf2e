"""A Spark session for this package, with the jars, the Java and the Python that it needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import pyspark
from pyspark.sql import SparkSession

from magicbyte.platform import jars
from magicbyte.platform.java import find_spark_java

#: The most bytes or items that Avro's reader in the JVM allocates for one value. Without this limit, a broken record
#: that claims a string of a gigabyte would end the executor.
LARGEST_VALUE = 2**27

_LIMITS = " ".join(
    f"-Dorg.apache.avro.limits.{kind}.maxLength={LARGEST_VALUE}" for kind in ("bytes", "string", "collectionItems")
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
    return ",".join(jars.spark_modules(version))


def session(
    name: str = "magicbyte", *, master: str = "local[*]", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """The Spark session of this process, started if there is none, with Spark's Avro and Kafka modules.

    Args:
        name: The application's name.
        master: Where it runs: `local[*]`, or a cluster's address. The defaults are for a driver on this machine;
            `settings` override them.
        settings: Spark properties.

    Raises:
        JavaMissing: there is no JDK that this version of Spark runs on.
        JarsMissing: the jars are not in the cache and could not be fetched.
    """
    os.environ["JAVA_HOME"] = str(find_spark_java(pyspark.__version__).home)
    # Workers with another Python than the driver's would fail on the first task.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).master(master)
    properties = {**_DEFAULTS, **modules(), **(settings or {})}
    for key in ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"):
        properties[key] = f"{_LIMITS} {properties.get(key, '')}".strip()
    for key, value in properties.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def modules() -> dict[str, str]:
    """The Spark property that names the Avro and Kafka modules of the pyspark that is installed.

    If MAGICBYTE_SPARK_JARS is set, it lists the jar files, separated by commas. Otherwise this version's lock file
    lists them; if it has none, Spark itself fetches the modules from Maven Central.

    Raises:
        JarsMissing: the jars are not in the cache and could not be fetched.
    """
    named = os.environ.get("MAGICBYTE_SPARK_JARS")
    lock = f"spark-{pyspark.__version__}"
    if named is None and lock not in jars.LOCKS:
        return {"spark.jars.packages": packages(pyspark.__version__)}
    return {"spark.jars": named or ",".join(map(str, jars.paths(lock)))}
