"""A restore in small batches that kills itself with -9.

python tests/operations/restore/dying.py FILE TARGET LINE [--open]

It dies at the LINE-th line of progress, which is written after each batch; with --open before that batch is committed.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from confluent_kafka import Producer

from magicbyte.cli.main import main
from magicbyte.cli.restore import main as command
from magicbyte.operations.restore.targets import database, our_registry, topic, topic_writer
from registry.log.sql import SqlLog


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run(file: str, target: str, line: int, *, is_open: bool) -> None:
    """Restore a file, and die."""
    for module, name in (
        (database, "_RECORDS_IN_TRANSACTION"),
        (topic, "_RECORDS_IN_TRANSACTION"),
        (our_registry, "_LINES_IN_REQUEST"),
    ):
        setattr(module, name, 4)
    left = line

    def count(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            _die()

    if not is_open:
        setattr(command, "progress", count)  # noqa: B010  of another type
    elif target.startswith("kafka:"):

        class Dying(Producer):  # type: ignore[misc]  # a class without types
            def commit_transaction(self, *arguments: Any) -> None:
                count()
                super().commit_transaction(*arguments)

        setattr(topic_writer, "Producer", Dying)  # noqa: B010  not a name that the module gives away
    else:
        append = SqlLog.append

        def dying(self: SqlLog, *arguments: Any) -> int:
            count()
            return append(self, *arguments)

        setattr(SqlLog, "append", dying)  # noqa: B010  as above
    sys.exit(main(["restore", file, "--to", target]))


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]), is_open="--open" in sys.argv)
