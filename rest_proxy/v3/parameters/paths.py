"""The parameters of v3's paths."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path
from pydantic import BeforeValidator, WithJsonSchema

from magicbyte.http.errors import NOT_FOUND
from rest_proxy.admin.client import PartitionId
from rest_proxy.exchange.parameters import name_of

_MAX_INT = 2**31 - 1


def number_of(raw: Any) -> int:
    """Read a whole number, such as a partition's.

    Raises:
        ApiError: NOT_FOUND, as for a path that the API does not have.
    """
    text = str(raw)
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 10 or int(digits) > _MAX_INT:
        raise NOT_FOUND()
    return int(text)


_NAME, _NUMBER = BeforeValidator(name_of), BeforeValidator(number_of)
_TEXT, _INTEGER = WithJsonSchema({"type": "string", "minLength": 1}), WithJsonSchema({"type": "integer"})

#: A topic's name. Raises INVALID_ENTITY for a null character, as the other names do.
TopicName = Annotated[str, _NAME, _TEXT, Path(alias="topic", description="The topic's name, percent-encoded.")]
#: A partition's number. Raises NOT_FOUND for another text, as a broker's id does.
PartitionNumber = Annotated[int, _NUMBER, _INTEGER, Path(alias="partition", description="The partition's number.")]
BrokerId = Annotated[int, _NUMBER, _INTEGER, Path(alias="broker", description="The broker's id.")]
ConfigName = Annotated[str, _NAME, _TEXT, Path(alias="config", description="The property's name, percent-encoded.")]
GroupId = Annotated[str, _NAME, _TEXT, Path(alias="group", description="The consumer group's id, percent-encoded.")]
ConsumerId = Annotated[str, _NAME, _TEXT, Path(alias="consumer", description="The consumer's id, percent-encoded.")]


async def _topic_first(topic: TopicName) -> str:
    return topic


async def _place(topic: TopicName, partition: PartitionNumber) -> PartitionId:
    return PartitionId(topic, partition)


#: A topic's name, which is checked before the dependencies that follow, such as a body.
TopicFirst = Annotated[str, Depends(_topic_first)]
#: A partition, which is checked before the dependencies that follow.
PartitionPlace = Annotated[PartitionId, Depends(_place)]
