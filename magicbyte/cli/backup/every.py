"""`magicbyte backup --every`: a backup at every turn, until a stop signal."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from magicbyte.cli.backup.outputs import tell
from magicbyte.cli.servers.stopping import StopRequested, stop_on_signals
from magicbyte.kit.failure import Failure, say
from magicbyte.operations.backup.making import BackupRequest, make_backup
from magicbyte.operations.backup.metrics import BackupMetrics
from magicbyte.operations.backup.rounds import TimedFiles, run_rounds
from magicbyte.operations.backup.writing import Written


def run_every(wanted: BackupRequest, options: argparse.Namespace, show: Callable[[Written], None]) -> int:
    """Make backups until a stop signal, and return the exit code.

    Args:
        wanted: What to back up.
        options: The command's options.
        show: Prints a backup that was made.

    Raises:
        Failure: The port of the metrics cannot be opened, or there is no folder for the files.
    """
    files = TimedFiles(options.file, options.keep)
    if not options.file.parent.is_dir():
        raise Failure(f"there is no folder {options.file.parent}")
    made = files.made()
    metrics = BackupMetrics(str(options.file), options.metrics, made[-1].stat().st_mtime if made else 0.0)

    def on_made(written: Written) -> None:
        show(written)
        _publish(lambda: metrics.made(written))

    def on_failed(error: Failure) -> None:
        say(f"no backup was made, the next turn tries again: {error}")
        _publish(metrics.failed)

    def on_old_stay(error: Failure) -> None:
        say(f"the backup was made, but older ones stay: {error}")

    try:
        with stop_on_signals() as check:

            def pause(seconds: float) -> None:
                check()
                time.sleep(seconds)

            run_rounds(
                lambda path: make_backup(wanted, path, tell=tell),
                files,
                options.every,
                on_made=on_made,
                on_failed=on_failed,
                on_old_stay=on_old_stay,
                pause=pause,
            )
    except StopRequested:
        pass
    with suppress(OSError):
        sys.stdout.flush()
    # Requests that threads are waiting for must not hold up the end.
    os._exit(0)


def _publish(note: Callable[[], None]) -> None:
    """Change the metrics; if their file cannot be written, say so and go on."""
    try:
        note()
    except Failure as error:
        say(str(error))
