"""Lets a worker process select the records that fit, in smaller parts if it cannot work on all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
import orjson

from magicbyte.kit.errors import ApiError, ErrorKind
from magicbyte.ui import errors
from magicbyte.ui.messages.exchange import Outcome, Task
from magicbyte.ui.messages.scan_request import ScannedRecord, ScanRequest, Selected, SelectRequest

#: Lets a worker do a task.
Convert = Callable[[Task], Awaitable[Outcome]]

#: Errors of the records at hand: with fewer of them, the worker may succeed.
_OF_RECORDS = (errors.TOO_MUCH_CPU, errors.TOO_MUCH_MEMORY, errors.WORKER_DIED)
_OK = 200


class Selecting:
    """Selects records of one scan."""

    def __init__(self, convert: Convert, wanted: ScanRequest) -> None:
        """Prepare.

        Args:
            convert: Lets a worker do a task.
            wanted: What the scan asks for.
        """
        self._convert = convert
        self._wanted = wanted

    async def select(self, records: list[ScannedRecord], most: int, most_bytes: int) -> Selected:
        """Look at records, until enough fit.

        Args:
            records: The records.
            most: How many to return at most.
            most_bytes: The bytes of the returned records beyond which no more are looked at.

        Raises:
            ApiError: No worker could work on them, or the registry refuses.
        """
        try:
            return await self._select(records, most, most_bytes)
        except ApiError as error:
            if error.kind not in _OF_RECORDS:
                raise
            if len(records) == 1:
                # It may fit: nobody can tell, so it is shown.
                return Selected(1, [msgspec.Raw(_failed(records[0], error))])
        return await self.select(records[: len(records) // 2], most, most_bytes)

    async def _select(self, records: list[ScannedRecord], most: int, most_bytes: int) -> Selected:
        wanted = self._wanted
        body = SelectRequest(
            topic=wanted.topic,
            context=wanted.context,
            unions=wanted.unions,
            logical=wanted.logical,
            key_as=wanted.key_as,
            value_as=wanted.value_as,
            filter=wanted.filter,
            whole=wanted.whole,
            records=records,
            most=most,
        )
        outcome = await self._convert(Task("select", msgspec.json.encode(body), most_bytes))
        if outcome.status != _OK:
            error = orjson.loads(outcome.body)
            raise ErrorKind(error["error_code"], "{detail}", outcome.status)(detail=error["message"])
        return msgspec.json.decode(outcome.body, type=Selected)


def _failed(record: ScannedRecord, error: ApiError) -> bytes:
    """A record that no worker can decode."""
    failure = {"error": error.message, "reason": "other", "at": None}
    return orjson.dumps(
        {
            "partition": record.partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": None if record.key is None else "",
            "value": None if record.value is None else "",
            "keySize": None if record.key is None else len(record.key) * 3 // 4,
            "valueSize": None if record.value is None else len(record.value) * 3 // 4,
            "headers": [],
            "cut": True,
            "decoded": {"key": failure, "value": failure},
        }
    )
