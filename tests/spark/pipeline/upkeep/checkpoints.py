"""Pipeline files, and checkpoints as Spark and a run leave them."""

from __future__ import annotations

import os
from pathlib import Path

#: Seconds since 1970 of 2026-01-01T10:00:00Z, at which the last batch of a checkpoint was finished.
FINISHED = 1767261600


def write_pipeline(folder: Path, name: str, rest: str = "source: {rate: {rows-per-second: 1}}") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.yaml"
    file.write_text(
        f"""
version: 1
name: {name}
checkpoint: {folder}/{name}-checkpoint
{rest}
sink: {{files: {{path: {folder}/out}}}}
"""
    )
    return file


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def ran(checkpoint: Path, batches: int = 4) -> None:
    """A checkpoint as Spark leaves it."""
    write(checkpoint / "metadata", '{"id":"5c1d"}')
    for number in range(batches):
        write(checkpoint / "offsets" / str(number), 'v1\n{"batchWatermarkMs":0}\n0')
        write(checkpoint / "commits" / str(number), "v1\n{}")
    os.utime(checkpoint / "commits" / str(batches - 1), (FINISHED, FINISHED))
