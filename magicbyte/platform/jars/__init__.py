"""The jars for the broker and Spark: listed in a lock file, fetched from Maven Central, kept in the cache.

Each version of Kafka, Spark and a table format has a lock file (`broker-4.3.1.lock`, `spark-4.0.0.lock`,
`delta-4.0.0-spark-4.0.lock` next to this file). The jars of a table format or a JDBC driver are fetched when a
pipeline names it. A line is one jar, `group:artifact:version:sha256:size`, without an address: the `jgo` package knows
the address of Maven Central, and reads mirrors from its configuration file.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.kit.extras import install_line, require
from magicbyte.kit.failure import Failure, cache_folder

if TYPE_CHECKING:
    from jgo.maven import MavenContext

#: The versions of Kafka that have a lock file.
KAFKA_VERSIONS = ["3.9.2", "4.3.1", "4.4.0"]

#: The version of Kafka that the local broker runs by default.
KAFKA_VERSION = "4.3.1"

#: The versions of Spark that have a lock file.
SPARK_VERSIONS = ("3.5.7", "4.0.0", "4.1.1")

#: Spark version -> the Kafka module to use instead of its own, which fails once after a crash (SPARK-57438).
_KAFKA_MODULES = dict.fromkeys(("4.1.0", "4.1.1", "4.1.2"), "4.1.3")

#: Table format -> the Maven coordinates of its module, by the line of Spark: a module fits no other line.
TABLE_FORMATS = {
    "delta": {
        "3.5": "io.delta:delta-spark_2.12:3.3.2",
        "4.0": "io.delta:delta-spark_2.13:4.0.0",
        "4.1": "io.delta:delta-spark_4.1_2.13:4.1.0",
    },
    "iceberg": {
        "3.5": "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1",
        "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1",
        "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
    },
}

#: Table format and line of Spark -> the lock file.
TABLE_FORMAT_LOCKS = {
    (name, line): f"{name}-{module.rpartition(':')[2]}-spark-{line}"
    for name, modules in TABLE_FORMATS.items()
    for line, module in modules.items()
}

#: Database -> the Maven coordinates of its JDBC driver, for every version of Spark.
JDBC_DRIVERS = {
    "postgresql": "org.postgresql:postgresql:42.7.8",
    "sqlite": "org.xerial:sqlite-jdbc:3.50.3.0",
}

#: Database -> the lock file of its driver.
JDBC_DRIVER_LOCKS = {name: f"jdbc.{name}-{module.rpartition(':')[2]}" for name, module in JDBC_DRIVERS.items()}

#: Lock file -> the program's name in messages.
LOCKS = {
    **{f"broker-{version}": f"Kafka {version}" for version in KAFKA_VERSIONS},
    **{f"spark-{version}": f"Spark {version}" for version in SPARK_VERSIONS},
    **{
        lock: f"{name.capitalize()} {TABLE_FORMATS[name][line].rpartition(':')[2]} for Spark {line}"
        for (name, line), lock in TABLE_FORMAT_LOCKS.items()
    },
    **{lock: f"the JDBC driver of {name}" for name, lock in JDBC_DRIVER_LOCKS.items()},
}

#: The folders of the lock files; the tests add one.
LOCK_FOLDERS = [resources.files(__name__)]

#: How many jars are fetched in parallel.
_CONNECTIONS = 8


class JarsMissing(Failure):
    """Jars of a lock file are not in the cache and could not be fetched."""


class TableFormatMissing(Failure):
    """A table format has no module for the Spark version."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One line of a lock file: Maven coordinates, the file's SHA-256 in hex, and its size in bytes."""

    group: str
    artifact: str
    version: str
    sha256: str
    size: int

    @property
    def coordinates(self) -> str:
        """`group:artifact:version`."""
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def path(self) -> Path:
        """The jar's path in the cache; the hash in the name tells apart different files of the same version."""
        return cache_folder() / "jars" / f"{self.artifact}-{self.version}-{self.sha256[:8]}.jar"

    def is_cached(self) -> bool:
        """Tell whether the complete jar is in the cache; its hash was checked before it was put there."""
        try:
            return self.path.stat().st_size == self.size
        except OSError:
            return False

    def matches(self, file: Path) -> bool:
        """Tell whether a file has the locked size and hash."""
        with file.open("rb") as stream:
            return file.stat().st_size == self.size and hashlib.file_digest(stream, "sha256").hexdigest() == self.sha256


def read_lock(name: str) -> tuple[Jar, ...]:
    """Return the jars of the lock file `name`, one of LOCKS, in the file's order."""
    files = [folder / f"{name}.lock" for folder in LOCK_FOLDERS]
    return parse_lock(next(file for file in files if file.is_file()).read_text(encoding="ascii"))


def parse_lock(text: str) -> tuple[Jar, ...]:
    """Return the jars in the text of a lock file, in its order."""
    fields = (line.split(":") for line in text.splitlines() if line)
    return tuple(Jar(group, artifact, version, sha256, int(size)) for group, artifact, version, sha256, size in fields)


def paths(name: str) -> list[Path]:
    """Return the jar files of the lock file `name`; see `fetch`."""
    return fetch(read_lock(name), program=LOCKS[name])


def fetch(jars: Sequence[Jar], *, program: str) -> list[Path]:
    """Return the files of jars, and fetch those that are not in the cache.

    Args:
        jars: the jars of a lock file.
        program: the program that needs them, for messages.

    Raises:
        JarsMissing: a jar is not in the cache and could not be fetched.
    """
    missing = [jar for jar in jars if not jar.is_cached()]
    if missing:
        _fetch(missing, program=program)
    return [jar.path for jar in jars]


def spark_modules(version: str) -> tuple[str, ...]:
    """Return the Maven coordinates of the Avro and Kafka modules for a Spark version."""
    # The pyspark packages of Spark 3 bundle Scala 2.12, those of Spark 4 Scala 2.13.
    scala = "2.12" if version.startswith("3.") else "2.13"
    versions = {"spark-avro": version, "spark-sql-kafka-0-10": _KAFKA_MODULES.get(version, version)}
    return tuple(f"org.apache.spark:{module}_{scala}:{number}" for module, number in versions.items())


def table_format_modules(formats: Iterable[str], version: str) -> tuple[str, ...]:
    """Return the Maven coordinates of table formats for a Spark version.

    Raises:
        TableFormatMissing: a format has no module for this version.
    """
    names = tuple(dict.fromkeys(formats))
    problem = table_format_problem(names, version)
    if problem:
        raise TableFormatMissing(problem)
    return tuple(TABLE_FORMATS[name][spark_line(version)] for name in names)


def table_format_problem(formats: Sequence[str], version: str) -> str:
    """Return why a Spark version has no tables of these formats, and what to install; empty if it has them."""
    missing = [name for name in formats if spark_line(version) not in TABLE_FORMATS[name]]
    if not missing:
        return ""
    lines = [*TABLE_FORMATS[missing[0]]]
    return (
        f"{' and '.join(name.capitalize() for name in missing)} tables need PySpark {', '.join(lines[:-1])} or"
        f" {lines[-1]}, and {version} is installed: {_install_spark(lines[-1])}"
    )


def unlocked_spark(version: str) -> str:
    """Return what to expect of a Spark version that has no lock file, and what to install; empty if it has one."""
    if version in SPARK_VERSIONS:
        return ""
    *others, last = SPARK_VERSIONS
    line = spark_line(version)
    tested = line if line in map(spark_line, SPARK_VERSIONS) else spark_line(last)
    return (
        f"the modules for PySpark {version} are not known here: Spark asks Maven Central for"
        f" {' and '.join(spark_modules(version))}, which may not exist. PySpark {', '.join(others)} and {last} are"
        f" tested: {_install_spark(tested)}"
    )


def _install_spark(line: str) -> str:
    return install_line([f"spark{line}".replace(".", "")])


def spark_line(version: str) -> str:
    """Return the line of a Spark version, such as 4.0 for 4.0.1."""
    return ".".join(version.split(".")[:2])


def verify(name: str) -> list[Jar]:
    """Return the jars of a lock file whose cached file is missing or wrong, and delete the wrong files."""
    wrong = [jar for jar in read_lock(name) if not (jar.is_cached() and jar.matches(jar.path))]
    for jar in wrong:
        jar.path.unlink(missing_ok=True)
    return wrong


def maven(repository: Path) -> MavenContext:
    """Return a Maven client that downloads into `repository`, from Maven Central or jgo's configured mirrors."""
    # Import here: it takes 0.2 s, and is not needed if the cache is full.
    from jgo.config import GlobalSettings  # noqa: PLC0415
    from jgo.maven import MavenContext, PythonResolver  # noqa: PLC0415

    mirrors = GlobalSettings.load().repositories
    return MavenContext(resolver=PythonResolver(), repo_cache=repository, remote_repos=mirrors or None, timeout=30)


def _fetch(jars: list[Jar], *, program: str) -> None:
    require("server", user=f"fetching the jars for {program}", modules=("jgo", "tqdm"))
    from tqdm import tqdm  # noqa: PLC0415 - only if something is fetched

    folder = cache_folder() / "jars"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JarsMissing(f"the jars for {program} cannot be kept in {folder}: {error.strerror}") from error
    size = sum(jar.size for jar in jars)
    failed: list[tuple[Jar, str]] = []
    with (
        tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as scratch,
        ThreadPoolExecutor(_CONNECTIONS) as pool,
        tqdm(total=size, desc=f"jars for {program}", unit="B", unit_scale=True, file=sys.stderr) as bar,
    ):
        context = maven(Path(scratch))
        downloads = {pool.submit(_fetch_one, context, jar): jar for jar in jars}
        for download in as_completed(downloads):
            jar = downloads[download]
            failure = download.exception()
            if failure is not None:
                failed.append((jar, _reason(failure)))
            bar.update(jar.size)
    if failed:
        jar, reason = failed[0]
        raise JarsMissing(
            f"{len(failed)} of {len(jars)} jars for {program} could not be fetched from Maven Central"
            f" ({jar.coordinates}: {reason}); with network access they are fetched once and kept in {folder}"
        )


def _fetch_one(context: MavenContext, jar: Jar) -> None:
    artifact = context.project(jar.group, jar.artifact).at_version(jar.version).artifact()
    file = Path(artifact.resolve())
    if not jar.matches(file):
        raise ValueError("the file fetched is not the one that was locked (SHA-256 or size differs)")
    # A rename within one file system: another process sees the whole jar or none.
    file.replace(jar.path)


def _reason(error: BaseException) -> str:
    """Return one line for a download's error: the innermost cause, since the outer errors only repeat it."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return " ".join(str(error).split())[:200] or type(error).__name__
