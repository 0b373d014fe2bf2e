"""The batches of a source that is read once; Spark has no checkpoint for such a source."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

from spark_avro.pipeline.folder import Folder, ReadableFolder

_FILE = "_magicbyte/runs.json"


@dataclass(frozen=True, slots=True)
class BegunBatch:
    """A batch that has begun.

    Attributes:
        number: Its number.
        input_id: A random id, the same for all attempts: another copy of the log gives its batch another id.
        attempted: Whether an earlier run has begun it.
    """

    number: int
    input_id: str
    attempted: bool


class RunLog:
    """The query's id, the batch that was begun last, and the number of the last batch that is finished."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        text = folder.read(_FILE)
        self._log: dict[str, Any] = json.loads(text) if text else {"id": str(uuid.uuid4()), "last": -1}
        if text is None:
            self._folder.write(_FILE, json.dumps(self._log))

    def query_id(self) -> str:
        """The query's id, made at the first start."""
        return str(self._log["id"])

    def begin(self) -> BegunBatch:
        """Begin the next batch; if the last batch was not finished, begin it again."""
        number, begun = int(self._log["last"]) + 1, self._log.get("begun", {})
        attempted = begun.get("number") == number
        if not attempted:
            begun = self._log["begun"] = {"number": number, "input": uuid.uuid4().hex[:16]}
            self._folder.replace(_FILE, json.dumps(self._log))
        return BegunBatch(number, str(begun["input"]), attempted)

    def commit(self, number: int) -> None:
        """Record that a batch is finished."""
        self._log["last"] = number
        self._folder.replace(_FILE, json.dumps(self._log))


def last_run(folder: ReadableFolder) -> tuple[int, float | None] | None:
    """The last finished batch of a source that is read once, and when the log was written; None if there is none."""
    text = folder.read(_FILE)
    last = -1 if text is None else int(json.loads(text)["last"])
    return None if last < 0 else (last, folder.modified(_FILE))
