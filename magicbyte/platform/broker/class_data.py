"""The broker's class data archive (AppCDS), which halves its start time; made once per JVM and set of jars."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from magicbyte.kit.failure import cache_folder, say
from magicbyte.platform.java import Java

#: For a broker with one user: a small heap, no concurrent collector, only the quick compiler.
JVM_OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")


def archive_options(java: Java, jars: Sequence[Path], train: Callable[[list[str]], None]) -> list[str]:
    """Return the JVM options that use the archive, after making it if it is missing; empty if it cannot be saved.

    Args:
        java: the JVM that will run the broker.
        jars: its class path, in order.
        train: starts and stops a broker with additional JVM options.
    """
    archive = cache_folder() / "class-data" / f"broker-{_key(java, jars)}.jsa"
    if not archive.exists():
        try:
            archive.parent.mkdir(parents=True, exist_ok=True)
            lock = (archive.parent / "lock").open("w")
        except OSError:
            return []
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not archive.exists():
                _make(java, jars, archive, train)
    # An empty file means that the JVM could not make an archive.
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds=off"] if archive.stat().st_size else []


def _key(java: Java, jars: Sequence[Path]) -> str:
    """Hash the things that the JVM checks before it uses an archive: itself, its options, each jar's path and time."""
    stat = java.executable.stat()
    parts = [str(java.executable.resolve()), str(stat.st_size), str(stat.st_mtime_ns), *JVM_OPTIONS]
    parts += [f"{jar}:{jar.stat().st_mtime_ns}" for jar in jars]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _make(java: Java, jars: Sequence[Path], archive: Path, train: Callable[[list[str]], None]) -> None:
    say("preparing the broker's class data, once (about 10 s) ...")
    classes, unfinished = archive.with_suffix(".classes"), archive.with_suffix(".unfinished")
    train([f"-XX:DumpLoadedClassList={classes}"])
    subprocess.run(  # noqa: S603 - our own Java and files
        [
            java.executable,
            *JVM_OPTIONS,
            "-Xshare:dump",
            f"-XX:SharedClassListFile={classes}",
            f"-XX:SharedArchiveFile={unfinished}",
            "-cp",
            os.pathsep.join(map(str, jars)),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    classes.unlink(missing_ok=True)
    unfinished.touch()
    unfinished.replace(archive)
