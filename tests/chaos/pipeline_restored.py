"""Pipelines with restored, renamed and expired parts: each row is in each target once, or the run is refused.

    python tests/chaos/pipeline_restored.py [--short | --from STEP]

One pipeline writes to Parquet files, Delta, Iceberg, SQLite, PostgreSQL and two topics. It crashes at named points
(after each sink, and before each kind of marker). It is renamed, and its sinks change places. Snapshots are expired and
files vacuumed between crash and repeat. Older copies of the checkpoint and of a target are restored, and two copies of
the checkpoint run in turn. The source topic is deleted and made again. After each fault all targets are compared, value
by value, by readers that share no code with pipelines, and so are the counts that a run reports; after a crash, the
readers also tell whether it came at its point.
`--short` tries most kinds of faults once, in six drivers. The long form takes about 45 drivers; `--from` leaves out the
steps before one. Ends with 1 if any of this does not hold.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from magicbyte.testing import temporary_broker
from tests.chaos.kit.pipeline_targets import PostgreSQL
from tests.chaos.kit.restored_world import POINTS, World


def crash(point: str) -> Callable[[World], None]:
    """Crash at a point, and go on."""

    def crash_there(world: World) -> None:
        world.produce()
        world.crash(f"crash at {point}", point)
        world.expect(f"repeat after {point}", 0, world.run())

    return crash_there


def rename(world: World) -> None:
    """Rename the pipeline and reverse its sinks after a crash."""
    world.forget_commit()
    world.rename()
    world.expect("renamed, sinks reordered", 0, world.run())


def maintain(world: World) -> None:
    """Expire snapshots and vacuum between crash and repeat."""
    world.forget_commit()
    world.expect("expired and vacuumed", 0, world.run("--maintain", *world.tables))


def restore(world: World) -> None:
    """Restore an older copy of the checkpoint, whose next batch has other offsets; then the newest one."""
    older, newest = world.folder / "older", world.folder / "newest"
    shutil.copytree(world.checkpoint, older)
    world.produce()
    world.expect("further batches", 0, world.run())
    world.checkpoint.rename(newest)
    shutil.copytree(older, world.checkpoint)
    # Nothing is written, and the refusal names the way out.
    world.expect("older copy", 1, world.run(), "source.start: {numbers: {0: ")
    world.expect("older copy, --adopt", 1, world.run("--adopt"), "older copy")
    shutil.rmtree(world.checkpoint)
    newest.rename(world.checkpoint)
    world.produce()
    world.expect("newest copy", 0, world.run())


def restore_target(world: World) -> None:
    """Restore an older copy of one target, which lacks the batches since then; then the newest one."""
    database, older, newest = (world.folder / name for name in ("rows.db", "older.db", "newest.db"))
    shutil.copy(database, older)
    world.produce()
    world.expect("batches after a copy of a target", 0, world.run())
    database.rename(newest)
    shutil.copy(older, database)
    world.produce(40)
    world.stop("older copy of a target", world.run(), "are in no batch. Restore target and checkpoint of the same time")
    newest.rename(database)
    world.expect("newest copy of the target", 0, world.run())


def copy(world: World) -> None:
    """Run two copies of a checkpoint in turn: the same batch is skipped, and the copy that is behind is refused."""
    first, second = world.checkpoint_name, "copied"
    shutil.copytree(world.checkpoint, world.folder / second)
    world.produce(40)
    world.expect("one batch of the original", 0, world.run())
    world.checkpoint_name = second
    world.expect("the same batch of a copied checkpoint", 0, world.run())
    world.produce()
    world.expect("further batches of the copy", 0, world.run())
    world.checkpoint_name = first
    world.expect("the original, behind its copy", 1, world.run(), "older copy")
    world.checkpoint_name = second


def recreate(world: World) -> None:
    """Delete the source topic and make it again, longer than before."""
    world.recreate_source()
    world.expect("topic made again", 1, world.run(), "deleted and made again")


def recreate_and_lose_ids(world: World) -> None:
    """Lose the checkpoint's topic ids as well: the markers have them. `report` must not go on from such offsets."""
    recreate(world)
    shutil.rmtree(world.checkpoint / "_magicbyte/topics")
    world.policy = "report"
    world.expect("topic made again, ids lost", 1, world.run(), "Start with a new checkpoint")


STEPS: dict[str, Callable[[World], None]] = {
    "rename": rename,
    "maintain": maintain,
    "restore": restore,
    "restore-target": restore_target,
    "copy": copy,
    **{point: crash(point) for point in POINTS},
    "recreate": recreate_and_lose_ids,
}


def long(world: World, first: str) -> None:
    """Try each step from the first one on."""
    world.produce()
    world.expect("first run", 0, world.run())
    names = list(STEPS)
    for name in names[names.index(first) :]:
        STEPS[name](world)


def short(world: World) -> None:
    """Try most kinds of faults once; a driver takes about ten seconds, so one repeat follows several faults."""
    world.produce(40)
    world.crash("crash between two sinks", "sink:3")
    world.rename()
    world.expect("repeat, renamed, reordered, expired and vacuumed", 0, world.run("--maintain", *world.tables))
    older = world.folder / "older"
    shutil.copytree(world.checkpoint, older)
    world.produce(80)
    world.crash("crash before the marker", "marker:iceberg")
    world.expect("repeat", 0, world.run())
    newest, world.checkpoint_name = world.checkpoint_name, older.name
    world.expect("older copy", 1, world.run(), "older copy")
    world.checkpoint_name = newest
    recreate(world)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="six drivers")
    parser.add_argument("--from", dest="first", choices=STEPS, default="rename", help="the first step to try")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="magicbyte-restored-") as folder,
        tempfile.TemporaryDirectory(prefix="magicbyte-postgresql-") as database,
        temporary_broker() as broker,
    ):
        postgresql = PostgreSQL(Path(database))
        try:
            world = World(Path(folder), broker.bootstrap_servers, postgresql.url("restored"))
            world.create_source()
            if options.short:
                short(world)
            else:
                long(world, options.first)
        finally:
            postgresql.close()
    return 0 if world.well else 1


if __name__ == "__main__":
    sys.exit(main())
