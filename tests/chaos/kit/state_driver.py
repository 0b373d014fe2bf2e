"""Pipelines that remember rows: their files, a driver that is killed, and how far their checkpoints are."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.chaos.kit import bare_readers
from tests.chaos.kit.bare_readers import Row
from tests.chaos.kit.pipeline_driver import SPARK

#: How long a driver may take for a batch, in seconds.
PATIENCE = 400.0
#: A kill at a random time comes within so many seconds after a batch was seen.
MOMENT = 2.5
#: No batch has begun for so many seconds: all records are read.
IDLE = 20.0


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline with two sinks, a table of SQLite and Parquet files.

    Attributes:
        folder: The folder of its file, its checkpoint and its targets.
        topic: The topic that it reads first.
        columns: The columns that are compared.
    """

    folder: Path
    topic: str
    columns: Sequence[str]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def file(self) -> Path:
        return self.folder / "pipeline.yaml"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def letters(self) -> str:
        return f"dead-{self.name}"

    def declare(
        self, servers: str, registry: str, steps: Sequence[Any], records: int, streams: Mapping[str, Any] | None = None
    ) -> None:
        """Write the file."""
        self.folder.mkdir(exist_ok=True)
        declared = {
            "version": 1,
            "name": self.name,
            "kafka": {"bootstrap.servers": servers},
            "registry": {"url": registry, "patience": "5s"},
            "checkpoint": str(self.checkpoint),
            "trigger": {"every": "200ms"},
            "spark": SPARK,
            "source": {"topics": [self.topic], "limit": {"records": records}},
            **({"streams": streams} if streams else {}),
            "steps": steps,
            "sinks": [
                {"sql": {"url": f"sqlite:///{self.folder}/rows.db", "table": "rows_here"}},
                {"files": {"path": str(self.folder / "files"), "partition": []}},
            ],
            "errors": {"tolerance": "all", "topic": self.letters},
        }
        self.file.write_text(yaml.safe_dump(declared, sort_keys=False))

    def targets(self) -> dict[str, list[Row]]:
        """The rows of each target."""
        return {
            "sqlite": bare_readers.sqlite_table(self.folder / "rows.db", "rows_here", self.columns),
            "parquet": bare_readers.files_folder(self.folder / "files", "parquet", self.columns),
        }

    def query(self) -> Path:
        """The folder of Spark's query."""
        pointer = self.checkpoint / "_magicbyte/query.json"
        return self.checkpoint / json.loads(pointer.read_text())["folder"] if pointer.exists() else self.checkpoint

    def is_within_batch(self) -> bool:
        """Whether a batch is begun and not noted as done."""
        return newest(self.query() / "offsets") > newest(self.query() / "commits")

    def committed(self) -> Mapping[int, int]:
        """The end of each partition of the topic in the last batch that is noted as done."""
        return self._ends("commits")

    def begun(self) -> Mapping[int, int]:
        """The end of each partition of the topic in the last batch that is begun."""
        return self._ends("offsets")

    def _ends(self, folder: str) -> Mapping[int, int]:
        number = newest(self.query() / folder)
        if number < 0:
            return {}
        ends = json.loads((self.query() / f"offsets/{number}").read_text().splitlines()[-1])
        return {int(partition): offset for partition, offset in ends.get(self.topic, {}).items()}

    def changelogs(self) -> set[Path]:
        """The files with the changes of the state that Spark has committed."""
        return set(self.query().glob("state/*/*/**/*.changelog"))


def newest(folder: Path) -> int:
    """The largest number among the names of a folder; -1 if there is none."""
    return max((int(path.name) for path in folder.glob("[0-9]*") if path.name.isdigit()), default=-1)


@dataclass(slots=True)
class Driver:
    """A process with some pipelines, as a process group that can be killed."""

    folder: Path
    pipelines: Sequence[Pipeline]
    chance: random.Random
    _process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        """Start a process."""
        script = str(Path(__file__).parent / "state_crashing.py")
        files = [str(pipeline.file) for pipeline in self.pipelines]
        with (self.folder / "driver.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", script, *files, *options],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ,
            )

    def finish(self, *options: str) -> None:
        """Run until all records are read."""
        self.start("--until-caught-up", *options)
        self._end(0)

    def crash(self, pipeline: Pipeline, point: str, *options: str) -> None:
        """Run until the driver kills itself at a point of a pipeline."""
        self.start("--until-caught-up", "--crash", f"{pipeline.name}:{point}", *options)
        self._end(-signal.SIGKILL)

    def kill_in_commit(self, pipeline: Pipeline) -> bool:
        """Kill the process when a part of the state of a batch is committed; whether the batch was running."""
        self.start()
        before = pipeline.changelogs()
        self._wait(lambda: pipeline.changelogs() > before, "the state does not change")
        return self._kill(pipeline)

    def kill_at_random(self, pipeline: Pipeline) -> bool:
        """Kill the process at a random moment after a batch has begun; whether the batch was running."""
        self.start()
        number = newest(pipeline.query() / "commits")
        # The first batch repeats the one before; it is killed again at times.
        if self.chance.random() < 0.7:
            self._wait(lambda: newest(pipeline.query() / "commits") > number, "no batch ends")
        self._wait(self._within(pipeline), "no batch begins")
        time.sleep(self.chance.uniform(0, MOMENT))
        self._wait(self._within(pipeline), "no batch begins")
        return self._kill(pipeline)

    def _within(self, pipeline: Pipeline) -> Callable[[], bool]:
        """Whether a batch is running, or none will: all records are read."""
        deadline = time.monotonic() + IDLE
        return lambda: pipeline.is_within_batch() or time.monotonic() > deadline

    def _kill(self, pipeline: Pipeline) -> bool:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(60)
        return pipeline.is_within_batch()

    def _wait(self, until: Callable[[], bool], otherwise: str) -> None:
        assert self._process is not None
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert self._process.poll() is None, f"ended with {self._process.returncode}:\n{self.log()}"
            if time.monotonic() > deadline:
                os.killpg(self._process.pid, signal.SIGKILL)
                raise AssertionError(f"{otherwise}:\n{self.log()}")
            time.sleep(0.005)

    def _end(self, code: int) -> None:
        """Wait for the end of the process, as long as batches begin or end."""
        assert self._process is not None
        seen, deadline = self._progress(), time.monotonic() + PATIENCE
        while (found := self._process.poll()) is None:
            time.sleep(0.1)
            if (now := self._progress()) != seen:
                seen, deadline = now, time.monotonic() + PATIENCE
            if time.monotonic() > deadline:
                os.killpg(self._process.pid, signal.SIGKILL)
                raise AssertionError(f"the driver does not end:\n{self.log()}")
        assert found == code, f"ended with {found}, not {code}:\n{self.log()}"

    def _progress(self) -> list[int]:
        """The numbers of the batches that were begun and that ended."""
        folders = (pipeline.query() / name for pipeline in self.pipelines for name in ("offsets", "commits"))
        return [newest(folder) for folder in folders]

    def log(self) -> str:
        """The end of the log."""
        return (self.folder / "driver.log").read_text(errors="replace")[-4000:]
