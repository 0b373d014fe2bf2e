"""The processes of killed pipelines: their files, a driver that can be killed, and how far its checkpoints are."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.chaos.kit.pipeline_targets import Naive, Target
from tests.chaos.kit.pipeline_world import World

#: How long a driver may take for a batch, in seconds.
PATIENCE = 300.0

#: The Spark properties of a driver that is often started.
SPARK = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.log.level": "OFF",
}


class Declared:
    """A pipeline: its file, its target and its checkpoint."""

    def __init__(self, world: World, name: str, target: Target, topic: str) -> None:
        self.name, self.target = name, target
        self._topic = topic
        self.folder = world.folder / name
        self.folder.mkdir(exist_ok=True)
        self.checkpoint = self.folder / "checkpoint"
        self.file = self.folder / "pipeline.yaml"
        position = [f"_kafka.{field} as {name}" for field, name in (("partition", "p"), ("offset", "o"))]
        declared = {
            "version": 1,
            "name": name,
            "kafka": {"bootstrap.servers": world.servers},
            "registry": {"url": world.registry},
            "checkpoint": str(self.checkpoint),
            "trigger": {"every": "1s"},
            "spark": SPARK,
            "source": {"topics": [topic], "limit": {"records": world.records}},
            "steps": [{"select": ["*", *position]}, *target.steps],
            "sink": target.section,
        }
        self.file.write_text(yaml.safe_dump(declared, sort_keys=False))

    def begun(self) -> int:
        """The number of the last batch that was begun; -1 if none was."""
        return _newest(self.checkpoint / "offsets")

    def committed(self) -> int:
        """The number of the last batch that Spark has noted as done; -1 if none is."""
        return _newest(self.checkpoint / "commits")

    def is_within_batch(self) -> bool:
        """Whether a batch is begun and not noted as done."""
        return self.begun() > self.committed()

    def consumed(self) -> int:
        """The records up to the end of the last batch that was begun."""
        path = self.checkpoint / "offsets" / str(self.begun())
        offsets = json.loads(path.read_text().splitlines()[-1]) if path.exists() else {}
        return sum(offsets.get(self._topic, {}).values())


class Driver:
    """A process with one pipeline or several, as a process group that can be killed."""

    def __init__(self, world: World, group: str, targets: Mapping[str, Target]) -> None:
        self.topic = f"flights-{group}"
        self.group = group
        self.pipelines = [Declared(world, name, target, self.topic) for name, target in targets.items()]
        self._world = world
        self._log = world.folder / f"{group}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._begun_before: dict[str, int] = {}

    def command(self) -> list[str]:
        """`magicbyte pipeline run` for one pipeline, and the script with a thread for each of several."""
        kit = Path(__file__).parent
        [first, *others] = self.pipelines
        if isinstance(first.target, Naive):
            arguments = self._world.servers, self._world.registry, self.topic, first.target.path, first.checkpoint
            return [sys.executable, str(kit / "naive_append.py"), *map(str, arguments), str(self._world.records)]
        if others:
            files = [str(pipeline.file) for pipeline in self.pipelines]
            return [sys.executable, "-P", str(kit / "pipelines_together.py"), *files]
        run = [sys.executable, "-P", "-m", "magicbyte.cli.main", "pipeline", "run", str(first.file)]
        return [*run, "--master", "local[2]"]

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a process; the one before has ended, or is a zombie."""
        self._begun_before = {pipeline.name: pipeline.begun() for pipeline in self.pipelines}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*self.command(), *options], stdout=log, stderr=log, start_new_session=True, env=os.environ
            )
        return self._process

    def signal(self, number: signal.Signals, process: subprocess.Popen[bytes] | None = None) -> None:
        """Send a signal to all of a process group."""
        process = process or self._process
        assert process is not None
        os.killpg(process.pid, number)

    def kill(self) -> None:
        """Kill the process with -9; it may have done that itself."""
        assert self._process is not None
        if self._process.poll() is None:
            self.signal(signal.SIGKILL)
        self._process.wait(60)

    def finish(self) -> None:
        """Run until all records are read."""
        process = self.start("--until-caught-up")
        if process.wait(PATIENCE * 10) != 0:
            raise AssertionError(f"{self.group}: ended with {process.returncode}:\n{self.log()}")

    def log(self) -> str:
        """The end of the log."""
        return self._log.read_text(errors="replace")[-3000:]

    def is_dead(self) -> bool:
        """Whether the process was killed.

        Raises:
            AssertionError: it ended otherwise.
        """
        assert self._process is not None
        code = self._process.poll()
        if code not in (None, -signal.SIGKILL):
            raise AssertionError(f"{self.group} ended with {code}:\n{self.log()}")
        return code is not None

    def wait_for_batch(self, pipeline: Declared, produced: int) -> bool:
        """Wait until this process works on a batch of a pipeline that no process before has begun, or is dead.

        Args:
            pipeline: The pipeline.
            produced: The number of records in the topic.

        Returns:
            False if all records are read.
        """
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            begun, committed = pipeline.begun(), pipeline.committed()
            if self.is_dead() or begun > max(committed, self._begun_before[pipeline.name]):
                return True
            if begun == committed and pipeline.consumed() == produced:
                return False
            time.sleep(0.02)
        raise AssertionError(f"{pipeline.name}: no batch begins:\n{self.log()}")

    def wait_for_write(self, pipeline: Declared, before: Any) -> None:
        """Wait until a pipeline's target has another batch than before, or the process is dead."""
        deadline = time.monotonic() + PATIENCE
        while pipeline.target.progress() == before and not self.is_dead():
            assert time.monotonic() < deadline, f"{pipeline.name}: nothing is written:\n{self.log()}"
            time.sleep(0.01)


def _newest(folder: Path) -> int:
    return max((int(path.name) for path in folder.glob("[0-9]*") if path.name.isdigit()), default=-1)
