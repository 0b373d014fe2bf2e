"""Writes messages with one schema's classes and reads them with another's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from google.protobuf import message_factory
from google.protobuf.message import Message

from compat.budget import Budget
from compat.difference import Witness
from compat.json import json_text
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.witness.data import NoData, fill, settings
from compat.protobuf.witness.reception import effect, json_of

#: How many messages are tried for a difference, the steps for each, and how many characters of text cost one step.
_MOST_TRIED = 400
_STEPS_A_TRY = 60
_CHARACTERS_A_STEP = 40

#: A message with some fields set, and the numbers of the fields to compare after reading it.
Candidate = tuple[Message, tuple[int, ...]]


class Trial:
    """The classes of two schemas, for writing and reading messages."""

    def __init__(self, reader: ProtobufSchema, writer: ProtobufSchema, budget: Budget) -> None:
        """Link the schemas.

        Raises:
            TooMuchWork: The schemas are too long.
            InvalidSchema: One of them does not link.
        """
        self.budget = budget
        for schema in (reader, writer):
            texts = (unit.text or unit.tree for unit in schema.program.units.values())
            budget.spend(sum(len(text) if isinstance(text, str) else 0 for text in texts) // _CHARACTERS_A_STEP)
        self._reader, self._writer = reader.linked.pool, writer.linked.pool

    def written(self, name: str) -> Message:
        """An empty message of the writer; raises KeyError if the writer has no message with this name."""
        return message_factory.GetMessageClass(self._writer.FindMessageTypeByName(name))()

    def read(self, name: str) -> Message:
        """An empty message of the reader; raises KeyError as `written` does."""
        return message_factory.GetMessageClass(self._reader.FindMessageTypeByName(name))()

    def find(self, candidates: Iterator[Candidate], reader_name: str, *, by_name: bool = False) -> Witness | None:
        """A witness with the first message that the reader does not read as it was written; None if there is none.

        With `by_name`, a value that the reader gets under another name is not read as it was written.
        """
        for message, numbers in islice(candidates, _MOST_TRIED):
            self.budget.spend(_STEPS_A_TRY)
            try:
                fill(message)
                data = message.SerializeToString(deterministic=True)
                text = json_text.dumps(json_of(message))
                sentence = effect(message, self.read(reader_name), data, numbers, by_name=by_name)
            except (NoData, ValueError, TypeError):
                continue
            if sentence is not None:
                return Witness(sentence, text, data)
        return None


def one_field(empty: Message, number: int) -> Iterator[Candidate]:
    """Messages with one field set, for all kinds of its values.

    Args:
        empty: An empty message of the class.
        number: The number of the field.

    Raises:
        KeyError: The message has no such field.
    """
    for setting in settings(empty.DESCRIPTOR.fields_by_number[number]):
        message = type(empty)()
        setting(message)
        yield message, (number,)
