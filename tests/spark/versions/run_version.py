"""The Spark tests with another PySpark, in an environment of its own beside `.venv`.

    python -P tests/spark/versions/run_version.py VERSION [ARGUMENT...]

`VERSION.txt` names the packages whose versions differ from requirements.lock. The environment is made anew if
one of the two, or pyproject.toml, has changed. `VERSION.lock` has jars for the tests alone: the Spark Connect
server if PySpark does not bundle it, or older modules if Maven Central does not have those of this Spark;
`python -P tests/spark/versions/run_version.py VERSION --lock` writes that file anew. Other arguments are pytest's.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

from magicbyte.platform.jars import LOCKS, fetch, parse_lock

ROOT = Path(__file__).parents[3]
VERSIONS = Path(__file__).parent

#: What the tests need beside the project and its extras.
PACKAGES = (
    "avro",
    "confluent-kafka[avro,json,protobuf]",
    "googleapis-common-protos",
    "grpcio-tools",
    "hypothesis",
    "psutil",
    "psycopg[binary]",
    "pytest",
    "pytest-timeout",
)

#: What `VERSION.lock` is made from.
_TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0"
WANTED = {
    "3.5.7": ("org.apache.spark:spark-connect_2.12:3.5.7",),
    # Maven Central had no Avro module after 4.1.1 and no Kafka module after 4.2.0 when this was written.
    "4.3.0": ("org.apache.spark:spark-avro_2.13:4.1.1", "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0", _TOKENS),
}


def environment(version: str) -> Path:
    """The folder of the version's environment, made first if it is missing or out of date."""
    folder = ROOT / f".venv-spark-{version}"
    own = VERSIONS / f"{version}.txt"
    inputs = (own, ROOT / "requirements.lock", ROOT / "pyproject.toml", Path(__file__))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in inputs) + sys.version.encode()).hexdigest()
    mark = folder / "installed"
    if not mark.exists() or mark.read_text() != digest:
        print(f"making {folder.name} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        constraints = folder / "constraints.txt"
        constraints.write_text(_others(own))
        command = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        # Editable, so that a change of the code is tested without a new environment; VERSION.txt has what the extra
        # `spark` brings, also for a version that the extra does not allow yet.
        project = ("-e", f"{ROOT}[server]")
        subprocess.run([*command, "-c", constraints, "-r", own, *project, *PACKAGES], check=True)
        mark.write_text(digest)
    return folder


def _others(own: Path) -> str:
    """The lines of requirements.lock without hashes, and without the packages that the version names, or py4j."""
    named = {"py4j", *re.findall(r"^[\w.-]+", own.read_text(), re.MULTILINE)}
    lines = re.findall(r"^[\w.-]+==[^\\\n]+", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    return "".join(f"{line}\n" for line in lines if line.partition("==")[0] not in named)


def variables(version: str) -> dict[str, str]:
    """The environment variables that name the jars of `VERSION.lock`, if there is one."""
    lock = VERSIONS / f"{version}.lock"
    if not lock.exists():
        return {}
    jars = ",".join(map(str, fetch(parse_lock(lock.read_text()), program=f"the tests of Spark {version}")))
    return {"SPARK_CONNECT_JARS" if f"spark-{version}" in LOCKS else "MAGICBYTE_SPARK_JARS": jars}


def lock_jars(version: str, python: Path) -> None:
    """Write `VERSION.lock`; by the version's own Python, beside whose PySpark nothing may be twice."""
    code = (
        "import sys; from magicbyte.platform.jars.lock import lock_text, pyspark_jars;"
        "sys.stdout.write(lock_text(sys.argv[2:], pyspark_jars(sys.argv[1])))"
    )
    done = subprocess.run([python, "-P", "-c", code, version, *WANTED[version]], stdout=subprocess.PIPE, check=True)
    (VERSIONS / f"{version}.lock").write_bytes(done.stdout)


def main(version: str = "", *arguments: str) -> int:
    """Run the tests; returns pytest's exit code."""
    versions = sorted(file.stem for file in VERSIONS.glob("*.txt"))
    if version not in versions:
        print(f"run_version: {version!r} is not among the versions {', '.join(versions)}", file=sys.stderr)
        return 2
    python = environment(version) / "bin" / "python"
    if arguments == ("--lock",):
        lock_jars(version, python)
        return 0
    command = [python, "-P", "-m", "pytest", *(arguments or ["tests/spark"]), "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=ROOT, env=os.environ | variables(version), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
