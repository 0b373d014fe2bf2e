"""Makes the lock files: resolves artifacts with their dependencies, and hashes the jars."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from magicbyte.kit.extras import require
from magicbyte.kit.failure import Failure
from magicbyte.platform.jars import (
    JDBC_DRIVER_LOCKS,
    JDBC_DRIVERS,
    KAFKA_VERSIONS,
    SPARK_VERSIONS,
    TABLE_FORMAT_LOCKS,
    TABLE_FORMATS,
    Jar,
    maven,
    spark_line,
    spark_modules,
)

#: Writes the broker's log, since Kafka has no SLF4J binding. Both have the same version, whichever API Kafka requires.
_LOGGING = ("org.slf4j:slf4j-api:1.7.36", "org.slf4j:slf4j-simple:1.7.36")

#: Replaces a dependency of a module: Maven Central had no token provider 4.1.1 when the lock was made.
_EXTRA = {"4.1.1": ("org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",)}

#: Lock file -> the coordinates to resolve for it.
ROOTS = {
    **{f"broker-{version}": (f"org.apache.kafka:kafka_2.13:{version}", *_LOGGING) for version in KAFKA_VERSIONS},
    **{f"spark-{version}": (*spark_modules(version), *_EXTRA.get(version, ())) for version in SPARK_VERSIONS},
    **{lock: (TABLE_FORMATS[name][line],) for (name, line), lock in TABLE_FORMAT_LOCKS.items()},
    **{lock: (JDBC_DRIVERS[name],) for name, lock in JDBC_DRIVER_LOCKS.items()},
}

#: Dependencies that are never loaded: the interfaces of Kafka's command line tools.
_UNUSED = frozenset({"kafka-tools-api"})

#: Dependencies of JDBC drivers that only their compilation needs.
_ANNOTATIONS = frozenset({"checker-qual"})


def write_lock(name: str) -> int:
    """Write the lock file `name` next to this module, and return its number of jars."""
    program, _, version = name.partition("-")
    if program in TABLE_FORMATS:
        version = next(number for number in SPARK_VERSIONS if spark_line(number) == name.rpartition("-")[2])
    if program == "broker":
        left_out = _UNUSED
    elif name in JDBC_DRIVER_LOCKS.values():
        left_out = _ANNOTATIONS | pyspark_jars(metadata.version("pyspark"))
    else:
        left_out = pyspark_jars(version)
    text = lock_text(ROOTS[name], left_out)
    Path(__file__).with_name(f"{name}.lock").write_text(text, encoding="ascii")
    return len(text.splitlines())


def lock_text(coordinates: Sequence[str], left_out: AbstractSet[str]) -> str:
    """Return the text of a lock file: the artifacts, and all their runtime dependencies.

    Args:
        coordinates: Maven coordinates, `group:artifact:version`; their versions win over those of dependencies.
        left_out: names of artifacts to leave out.
    """
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(8) as pool:
        context = maven(Path(scratch))
        roots = [context.create_dependency(artifact) for artifact in coordinates]
        for dependency in roots:
            # Without this, jgo would apply one artifact's dependencyManagement to the dependencies of the others.
            dependency.raw = True
        inputs, transitive = context.resolver.resolve(roots)
        needed = [
            dependency
            for dependency in inputs + transitive
            if dependency.scope in {None, "compile", "runtime"} and dependency.artifactId not in left_out
        ]
        jars = sorted(pool.map(_hashed, needed), key=lambda jar: jar.coordinates)
    return "".join(f"{jar.coordinates}:{jar.sha256}:{jar.size}\n" for jar in jars)


def pyspark_jars(version: str) -> frozenset[str]:
    """Return the artifacts that the pyspark wheel bundles: a second version of one would clash with it."""
    require("spark", user="the lock of Spark's jars", modules=("pyspark",))
    installed = metadata.version("pyspark")
    if installed != version:
        raise Failure(f"the lock of Spark {version} is made beside PySpark {version}, and {installed} is installed")
    wheel = find_spec("pyspark")
    assert wheel is not None
    assert wheel.origin is not None
    folder = Path(wheel.origin).with_name("jars")
    return frozenset(jar.stem.rpartition("-")[0] for jar in folder.glob("*.jar"))


def _hashed(dependency: Any) -> Jar:
    data = Path(dependency.artifact.resolve()).read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    return Jar(dependency.groupId, dependency.artifactId, dependency.version, sha256, len(data))
