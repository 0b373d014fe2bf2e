"""The failure of a pipeline's last run, noted in its checkpoint: `status` shows it when the process is gone."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from spark_avro.pipeline.run.health import reason_of

if TYPE_CHECKING:
    from spark_avro.pipeline.folder import Folder, ReadableFolder

log = logging.getLogger(__name__)

_FILE = "_magicbyte/failure.json"


@dataclass(frozen=True, slots=True)
class LastFailure:
    """Why the last run failed.

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
            return None if text is None else LastFailure(**json.loads(text))
        except (TypeError, ValueError):
            return None


@contextmanager
def noted_failure(folder: Folder) -> Iterator[None]:
    """Note the failure of the run in this context, or delete the note of an earlier one.

    A note that cannot be written is logged: the run's own end counts.
    """
    try:
        yield
    except Exception as error:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        failure = LastFailure(now, reason_of(error))
        try:
            folder.replace(_FILE, json.dumps(asdict(failure)))
        except Exception as second:  # noqa: BLE001 - the file system may be what failed
            log.warning("the failure is not noted in the checkpoint: %s", second)
        raise
    if folder.exists(_FILE):
        folder.delete(_FILE)
