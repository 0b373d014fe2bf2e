"""The failure of a pipeline's last run, noted in its checkpoint: `status` shows it when the process is gone."""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from magicbyte.kit.secret import hide_user_info
from spark_avro.pipeline.run.health import reason_of

if TYPE_CHECKING:
    from spark_avro.pipeline.folder import Folder, ReadableFolder

log = logging.getLogger(__name__)

_FILE = "_magicbyte/failure.json"
#: The stack trace, for people; its newest lines are the last ones.
_TRACE = "_magicbyte/failure.txt"
#: The longest stack trace, in characters.
_LONGEST_TRACE = 200_000


@dataclass(frozen=True, slots=True)
class LastFailure:
    """The failure of the last run.

    Attributes:
        time: When, in ISO 8601.
        reason: The first line of the error.
    """

    time: str
    reason: str

    @staticmethod
    def read(folder: ReadableFolder) -> LastFailure | None:
        """The note of a checkpoint; None if its last run did not fail, or was killed."""
        text = folder.read(_FILE)
        try:
            note = json.loads(text or "null")
        except ValueError:
            return None
        match note:
            case {"time": str(time), "reason": str(reason)}:
                return LastFailure(time, reason)
        return None


@contextmanager
def noted_failure(folder: Folder, is_owner: Callable[[], bool]) -> Iterator[None]:
    """Note the failure of the run in this context with its stack trace, or delete the note of an earlier one.

    An error of the note itself is only logged: it must not change the outcome of the run.

    Args:
        folder: The checkpoint.
        is_owner: Whether the run still holds the lease; if not, the note is the affair of the new owner.
    """
    try:
        yield
    except Exception as error:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        trace = hide_user_info("".join(traceback.format_exception(error)))[-_LONGEST_TRACE:]
        if _note(folder, is_owner, LastFailure(now, reason_of(error)), trace):
            error.add_note(f"the stack trace is in {hide_user_info(folder.path)}/{_TRACE}")
        raise
    _note(folder, is_owner, None)


def _note(folder: Folder, is_owner: Callable[[], bool], failure: LastFailure | None, trace: str = "") -> bool:
    """Write the note, or delete it if there is no failure; returns whether a note was written."""
    try:
        if not is_owner():
            return False
        if failure is not None:
            folder.replace(_TRACE, f"{failure.time}\n{trace}")
            folder.replace(_FILE, json.dumps(asdict(failure)))
            return True
        for name in (_FILE, _TRACE):
            if folder.exists(name):
                folder.delete(name)
    except Exception as error:  # noqa: BLE001 - the file system may be the reason for the failure
        log.warning(
            "the checkpoint does not have the outcome of the run (%s): %s",
            _FILE,
            error,
            extra={"event": "outcome_not_kept", "error": str(error)},
        )
    return False
