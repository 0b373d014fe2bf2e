"""Lets a worker process read letters, in smaller parts if it cannot work on all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
import orjson

from magicbyte.kit.errors import ApiError, ErrorKind
from magicbyte.ui import errors
from magicbyte.ui.messages.exchange import Outcome, Task
from magicbyte.ui.messages.letter_request import LetterKind, LettersRequest, SortedLetter, SortedLetters, SortRequest
from magicbyte.ui.messages.scan_request import ScannedRecord

#: Lets a worker do a task.
Convert = Callable[[Task], Awaitable[Outcome]]

#: Errors of the letters at hand: with fewer of them, the worker may succeed.
_OF_LETTERS = (errors.TOO_MUCH_CPU, errors.TOO_MUCH_MEMORY, errors.WORKER_DIED)
_OK = 200


class Sorting:
    """Reads the letters of one count.

    Attributes:
        unreadable: How many records no worker could read.
    """

    def __init__(self, convert: Convert, wanted: LettersRequest) -> None:
        """Prepare.

        Args:
            convert: Lets a worker do a task.
            wanted: Which letters are meant.
        """
        self.unreadable = 0
        self._convert = convert
        self._wanted = wanted

    async def sort(self, records: list[ScannedRecord]) -> tuple[list[LetterKind], list[SortedLetter]]:
        """The letters that are meant among records, and their kinds.

        Raises:
            ApiError: No worker can read them, or the condition is none.
        """
        if not records:
            return [], []
        try:
            found = await self._sort(records)
        except ApiError as error:
            if error.kind not in _OF_LETTERS:
                raise
            if self._wanted.where is not None:
                raise errors.COSTLY_CONDITION(detail=error.message) from None
        else:
            return found.kinds, found.letters
        if len(records) == 1:
            self.unreadable += 1
            return [], []
        half = len(records) // 2
        first_kinds, first = await self.sort(records[:half])
        kinds, letters = await self.sort(records[half:])
        for letter in letters:
            letter.kind += len(first_kinds)
        return [*first_kinds, *kinds], [*first, *letters]

    async def _sort(self, records: list[ScannedRecord]) -> SortedLetters:
        wanted = self._wanted
        body = SortRequest(topic=wanted.topic, by=wanted.by, where=wanted.where, group=wanted.group, records=records)
        outcome = await self._convert(Task("letters", msgspec.json.encode(body), 0))
        if outcome.status != _OK:
            error = orjson.loads(outcome.body)
            raise ErrorKind(error["error_code"], "{detail}", outcome.status)(detail=error["message"])
        return msgspec.json.decode(outcome.body, type=SortedLetters)
