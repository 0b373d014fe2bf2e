"""The records that a batch leaves out: they are noted, and go round the steps when the batch is repeated.

A crash may come between two sinks. So a repeat must leave out the same records, also if their ids are known by then.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.letters.isolate import Fault
from spark_avro.streams.followers import SchemaName

_FILE = "_magicbyte/faults.json"


@dataclass(frozen=True, slots=True, order=True)
class UnknownId:
    """A schema that the registry lacked, in the keys or values of a topic: another topic may know the same one.

    Attributes:
        topic: The topic.
        is_key: Whether the keys have it.
        schema_id: Its id; -1 if the records have a guid.
        guid: Its guid; empty if the records have an id.
    """

    topic: str
    is_key: bool
    schema_id: int = -1
    guid: str = ""

    @property
    def name(self) -> SchemaName:
        """The id or guid."""
        return self.guid or self.schema_id


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The records that a batch leaves out.

    Attributes:
        faults: Those that make a step fail.
        unknown: Ids and guids that the registry lacked when the batch was first written.
    """

    faults: Sequence[Fault] = ()
    unknown: Sequence[UnknownId] = ()


class FaultLog:
    """The records that the last batch leaves out; the driver that has the lease is its only writer."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def of(self, number: int | None) -> LeftOut:
        """The records that a batch leaves out; none if another batch was noted last."""
        text = self._folder.read(_FILE)
        noted = json.loads(text) if text else {}
        if not noted or noted["batch"] != number:
            return LeftOut()
        unknown = [UnknownId(**item) for item in noted["unknown"]]
        return LeftOut([Fault(**fault) for fault in noted["faults"]], unknown)

    def note(self, number: int, faults: Sequence[Fault]) -> None:
        """Note the faulty records of a batch, in place of those of an earlier one."""
        self._write(number, replace(self.of(number), faults=faults))

    def note_unknown(self, number: int, ids: Collection[UnknownId]) -> None:
        """Note the unknown ids and guids of a batch, before anything of it is written."""
        before = self.of(number)
        if set(ids) - set(before.unknown):
            self._write(number, replace(before, unknown=sorted({*ids, *before.unknown})))

    def _write(self, number: int, left_out: LeftOut) -> None:
        noted = {
            "batch": number,
            "faults": [asdict(fault) for fault in left_out.faults],
            "unknown": [asdict(item) for item in left_out.unknown],
        }
        self._folder.replace(_FILE, json.dumps(noted))
