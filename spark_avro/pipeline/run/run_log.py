"""The batch numbers of a source that is read once; Spark has no checkpoint for such a source."""

from __future__ import annotations

import json
import uuid
from typing import Any

from spark_avro.pipeline.folder import Folder

_FILE = "_magicbyte/runs.json"


class RunLog:
    """The query's id and the number of the last batch that is finished."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        text = folder.read(_FILE)
        self._log: dict[str, Any] = json.loads(text) if text else {"id": str(uuid.uuid4()), "last": -1}
        if text is None:
            self._folder.write(_FILE, json.dumps(self._log))

    def query_id(self) -> str:
        """The query's id, made at the first start."""
        return str(self._log["id"])

    def next_number(self) -> int:
        """The number of the next batch; if the last batch was not finished, its number again."""
        return int(self._log["last"]) + 1

    def commit(self, number: int) -> None:
        """Record that a batch is finished."""
        self._log["last"] = number
        self._folder.replace(_FILE, json.dumps(self._log))
