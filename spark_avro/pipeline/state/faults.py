"""The records of a batch that make a step fail: they are noted, and go round the steps when the batch is repeated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.letters.isolate import Fault

_FILE = "_magicbyte/faults.json"


class FaultLog:
    """The faulty records of the batch that is repeated; the driver that has the lease is its only writer."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def of(self, number: int | None) -> Sequence[Fault]:
        """The faulty records of a batch; none if another batch was noted last."""
        text = self._folder.read(_FILE)
        noted = json.loads(text) if text else {}
        return [Fault(**fault) for fault in noted["faults"]] if noted and noted["batch"] == number else []

    def note(self, number: int, faults: Sequence[Fault]) -> None:
        """Note the faulty records of a batch, in place of those of an earlier one."""
        noted = {"batch": number, "faults": [asdict(fault) for fault in faults]}
        self._folder.replace(_FILE, json.dumps(noted))
