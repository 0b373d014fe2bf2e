"""A Spark session for this package, with the jars, the Java and the Python that it needs."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Collection, Mapping

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from magicbyte.kit.processes.stop_signals import held_stop_signals
from magicbyte.kit.secret import is_secret
from magicbyte.platform import jars
from magicbyte.platform.java import find_spark_java

log = logging.getLogger(__name__)

#: The most bytes or items that Avro's reader in the JVM allocates for one value. Without this limit, a broken record
#: that claims a string of a gigabyte would end the executor.
LARGEST_VALUE = 2**27

_LIMITS = " ".join(
    f"-Dorg.apache.avro.limits.{kind}.maxLength={LARGEST_VALUE}" for kind in ("bytes", "string", "collectionItems")
)

_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Spark keeps the plans of so many jobs as texts, each with the schemas of all versions: 1000 are half a gigabyte.
    "spark.sql.ui.retainedExecutions": "50",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

#: With executors in the driver's process, a result larger than a megabyte would be sent over a socket to that process.
_LOCAL_DEFAULTS = {"spark.task.maxDirectResultSize": "32m"}


#: Table format -> its SQL extension.
_EXTENSIONS = {
    "delta": "io.delta.sql.DeltaSparkSessionExtension",
    "iceberg": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}

#: Table format -> further properties of the session.
_FORMAT_PROPERTIES = {
    "delta": {"spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog"},
}


def packages(version: str = pyspark.__version__, formats: Collection[str] = (), drivers: Collection[str] = ()) -> str:
    """The value of `--packages` and `spark.jars.packages` for a Spark version: its Avro and Kafka modules.

    Args:
        version: The Spark version.
        formats: Table formats whose modules are included: `delta`, `iceberg`.
        drivers: Databases whose JDBC drivers are included: `postgresql`, `sqlite`.

    Raises:
        TableFormatMissing: a format has no module for this version.
    """
    of_databases = (jars.JDBC_DRIVERS[name] for name in drivers)
    return ",".join((*jars.spark_modules(version), *jars.table_format_modules(formats, version), *of_databases))


def session(
    name: str = "magicbyte",
    *,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    formats: Collection[str] = (),
    drivers: Collection[str] = (),
) -> SparkSession:
    """The Spark session of this process, started if there is none, with Spark's Avro and Kafka modules.

    Args:
        name: The application's name.
        master: Where it runs: `local[*]`, or a cluster's address. The defaults are for a driver on this machine;
            `settings` override them.
        settings: Spark properties.
        formats: Table formats whose jars and SQL extensions are included: `delta`, `iceberg`. A session that runs
            already does not get them.
        drivers: Databases whose JDBC drivers are included: `postgresql`, `sqlite`.

    Raises:
        JavaMissing: there is no JDK that this version of Spark runs on.
        JarsMissing: the jars are not in the cache and could not be fetched, here or by Spark.
        TableFormatMissing: a table format has no module for this version of Spark.
    """
    os.environ["JAVA_HOME"] = str(find_spark_java(pyspark.__version__).home)
    # Workers with another Python than the driver's would fail on the first task.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    unlocked = jars.unlocked_spark(pyspark.__version__)
    if unlocked and "MAGICBYTE_SPARK_JARS" not in os.environ:
        log.warning("%s", unlocked, extra={"event": "packages_unlocked"})
    builder = SparkSession.builder.appName(name).master(master)
    defaults = {**_DEFAULTS, **(_LOCAL_DEFAULTS if master.partition("[")[0] == "local" else {})}
    properties = {**defaults, **modules(formats, drivers), **format_properties(formats), **(settings or {})}
    properties |= java_options(properties)
    _start_jvm(name, master, properties)
    for key, value in properties.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _start_jvm(name: str, master: str, properties: Mapping[str, str]) -> None:
    """Start the JVM if there is none, without the secrets: they would be in its command line, and it gets them later.

    A stop signal waits until the JVM has started. PySpark deletes the folder through which the JVM tells its port if
    it is interrupted; the JVM then fails to write there, and stays without anybody to end it.
    """
    public = {key: value for key, value in properties.items() if not is_secret(key)}
    conf = SparkConf().setAppName(name).setMaster(master).setAll([*public.items()])
    try:
        with held_stop_signals():
            SparkContext._ensure_initialized(conf=conf)  # noqa: SLF001  the one way to start it without a context
    except PySparkException as error:
        problem = jars.unlocked_spark(pyspark.__version__) if "spark.jars.packages" in properties else ""
        if problem:
            raise jars.JarsMissing(f"Spark did not start: {problem}") from error
        raise


def modules(formats: Collection[str] = (), drivers: Collection[str] = ()) -> dict[str, str]:
    """The Spark property that names the Avro and Kafka modules of the pyspark that is installed.

    If MAGICBYTE_SPARK_JARS is set, it lists the jar files, separated by commas. Otherwise this version's lock file
    lists them; if it has none, Spark itself fetches the modules from Maven Central.

    Args:
        formats: Table formats whose modules are included.
        drivers: Databases whose JDBC drivers are included.

    Raises:
        JarsMissing: the jars are not in the cache and could not be fetched.
        TableFormatMissing: a table format has no module for this version of Spark.
    """
    named = os.environ.get("MAGICBYTE_SPARK_JARS")
    if named is not None:
        return {"spark.jars": named}
    lock = f"spark-{pyspark.__version__}"
    if lock not in jars.LOCKS:
        return {"spark.jars.packages": packages(pyspark.__version__, formats, drivers)}
    jars.table_format_modules(formats, pyspark.__version__)
    line = jars.spark_line(pyspark.__version__)
    locks = [lock, *(jars.TABLE_FORMAT_LOCKS[name, line] for name in formats)]
    locks += [jars.JDBC_DRIVER_LOCKS[name] for name in drivers]
    return {"spark.jars": ",".join(str(path) for name in locks for path in jars.paths(name))}


def java_options(properties: Mapping[str, str]) -> dict[str, str]:
    """The Spark properties with Java's options for driver and executors: the limits of Avro's reader, and the own ones.

    Args:
        properties: Spark properties, which may have options.
    """
    return {
        key: f"{_LIMITS} {properties.get(key, '')}".strip()
        for key in ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
    }


def format_properties(formats: Collection[str]) -> dict[str, str]:
    """The Spark properties that table formats need besides their jars."""
    extensions = ",".join(_EXTENSIONS[name] for name in formats)
    return {
        **({"spark.sql.extensions": extensions} if extensions else {}),
        **{key: value for name in formats for key, value in _FORMAT_PROPERTIES.get(name, {}).items()},
    }
