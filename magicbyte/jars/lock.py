"""How the lock files are made: the wanted artifacts are resolved, and what they need is hashed."""

from __future__ import annotations

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from magicbyte.extras import require
from magicbyte.jars import Jar, maven

if TYPE_CHECKING:
    from jgo.maven import Dependency

#: What each lock file is made from. slf4j-simple writes the broker's log; kafka_2.13 brings no binding of its own.
WANTED = {
    "broker": ("org.apache.kafka:kafka_2.13:4.3.1", "org.slf4j:slf4j-simple:1.7.36"),
    "spark": (
        "org.apache.spark:spark-avro_2.13:4.0.0",
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
    ),
}


def write_lock(name: str) -> int:
    """Resolve what `name` stands for, write its lock file beside this module, and return the number of jars."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(8) as pool:
        context = maven(Path(scratch))
        wanted = [context.create_dependency(coordinates) for coordinates in WANTED[name]]
        for dependency in wanted:
            # Without this jgo would let one artifact's dependencyManagement choose the versions of the other's.
            dependency.raw = True
        inputs, transitive = context.resolver.resolve(wanted)
        jars = sorted(pool.map(_hashed, _needed(name, inputs + transitive)), key=lambda jar: jar.coordinates)
    lines = (f"{jar.coordinates}:{jar.sha256}:{jar.size}\n" for jar in jars)
    Path(__file__).with_name(f"{name}.lock").write_text("".join(lines), encoding="ascii")
    return len(jars)


def _needed(name: str, dependencies: list[Dependency]) -> list[Dependency]:
    bundled = _pyspark_jars() if name == "spark" else frozenset()
    return [
        dependency
        for dependency in dependencies
        if dependency.scope in {None, "compile", "runtime"} and dependency.artifactId not in bundled
    ]


def _pyspark_jars() -> frozenset[str]:
    """Return the artifacts that the pyspark wheel bundles: a second version of one of them beside it would clash."""
    require("spark", user="the lock of Spark's jars", modules=("pyspark",))
    wheel = find_spec("pyspark")
    assert wheel is not None
    assert wheel.origin is not None
    folder = Path(wheel.origin).with_name("jars")
    return frozenset(jar.stem.rpartition("-")[0] for jar in folder.glob("*.jar"))


def _hashed(dependency: Any) -> Jar:
    data = Path(dependency.artifact.resolve()).read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    return Jar(dependency.groupId, dependency.artifactId, dependency.version, sha256, len(data))
