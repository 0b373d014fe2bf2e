"""The parameters of v2's paths, and the instance that they name."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path
from pydantic import BeforeValidator, WithJsonSchema

from magicbyte.http.routing.request import Request
from rest_proxy.consume.consumers.instances import Instance
from rest_proxy.consume.parts import Consuming
from rest_proxy.exchange.parameters import name_of, partition_number
from rest_proxy.exchange.parts import part_of

_NAME, _TEXT = BeforeValidator(name_of), WithJsonSchema({"type": "string", "minLength": 1})

#: A topic's name. Raises INVALID_ENTITY for a null character, as the other names do.
TopicName = Annotated[str, _NAME, _TEXT, Path(alias="topic", description="The topic's name, percent-encoded.")]
#: A partition's number. Raises NOT_FOUND for another text.
PartitionNumber = Annotated[
    int,
    BeforeValidator(partition_number),
    WithJsonSchema({"type": "integer", "minimum": 0}),
    Path(alias="partition", description="The partition's number."),
]
GroupName = Annotated[str, _NAME, _TEXT, Path(alias="group", description="The consumer group's id, percent-encoded.")]
InstanceName = Annotated[str, _NAME, _TEXT, Path(alias="instance", description="The instance's name, percent-encoded.")]


async def _instance(request: Request, group: GroupName, instance: InstanceName) -> Instance:
    return part_of(request, Consuming).instances.get(request.principal.name, group, instance)


#: The sender's instance in the path. Raises CONSUMER_NOT_FOUND.
OwnInstance = Annotated[Instance, Depends(_instance)]
