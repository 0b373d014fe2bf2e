"""The bodies that endpoints of v3 declare."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from msgspec import Meta

from rest_proxy.v3.bodies import JsonBody
from rest_proxy.v3.models import requests

#: A list without `data` is refused like an empty body, with an error of its own.
_ACLS = Annotated[requests.Acls, Meta(extra_json_schema={"required": ["data"]})]

ConfigValueBody = Annotated[requests.ConfigValue, Depends(JsonBody(requests.ConfigValue))]
ConfigChangesBody = Annotated[requests.ConfigChanges, Depends(JsonBody(requests.ConfigChanges))]
TopicConfigChangesBody = Annotated[requests.TopicConfigChanges, Depends(JsonBody(requests.TopicConfigChanges))]
NewTopicBody = Annotated[
    requests.NewTopic, Depends(JsonBody(requests.NewTopic, nothing="Request body is empty. Data is required."))
]
PartitionCountBody = Annotated[
    requests.PartitionCount,
    Depends(JsonBody(requests.PartitionCount, nothing="Request body is empty. Partitions_count is required.")),
]
BeforeOffsetBody = Annotated[requests.BeforeOffset, Depends(JsonBody(requests.BeforeOffset))]
BeforeOffsetsBody = Annotated[requests.BeforeOffsets, Depends(JsonBody(requests.BeforeOffsets))]
AclBody = Annotated[requests.Acl, Depends(JsonBody(requests.Acl))]
AclsBody = Annotated[requests.Acls, Depends(JsonBody(requests.Acls, model=_ACLS))]
OffsetTargetsBody = Annotated[requests.OffsetTargets, Depends(JsonBody(requests.OffsetTargets))]
DeadLetterReplayBody = Annotated[requests.DeadLetterReplay, Depends(JsonBody(requests.DeadLetterReplay))]
ConsumeBody = Annotated[requests.ConsumeRequest, Depends(JsonBody(requests.ConsumeRequest, nothing=None))]
