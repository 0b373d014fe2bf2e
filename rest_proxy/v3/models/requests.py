"""The bodies of v3's requests: the shapes that read them, which also describe them in openapi/rest-proxy-v3.yaml."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rest_proxy.admin.acls import OPERATIONS, PATTERN_TYPES, PERMISSIONS, RESOURCE_TYPES
from rest_proxy.admin.configs import Change
from rest_proxy.v3.bodies import Int, Long, Short, Text


class ConfigValue(Struct, forbid_unknown_fields=True):
    """The value to set."""

    value: Text | None = None


class ConfigChange(Struct, forbid_unknown_fields=True):
    """A property to set or to reset."""

    name: Text
    value: Text | None = None
    operation: Annotated[Literal["SET", "DELETE"] | None, Meta(description="SET unless given.")] = None

    def change(self) -> Change:
        """The change in the admin client's form."""
        return Change(str(self.name), None if self.value is None else str(self.value), self.operation == "DELETE")


class ConfigChanges(Struct, forbid_unknown_fields=True):
    """Changes of one configuration."""

    data: list[ConfigChange]
    validate_only: bool | None = None


class ChangesOfTopic(Struct, forbid_unknown_fields=True):
    """Changes of one of several topics."""

    topic_name: Text
    configs: list[ConfigChange]


class TopicConfigChanges(Struct, forbid_unknown_fields=True):
    """Changes of several topics."""

    data: list[ChangesOfTopic]
    validate_only: bool | None = None


class ConfigEntry(Struct, forbid_unknown_fields=True):
    """A property of a new topic."""

    name: Text
    value: Text | None = None


class NewTopic(Struct, forbid_unknown_fields=True):
    """A topic to create."""

    topic_name: Text
    partitions_count: Int | None = None
    replication_factor: Short | None = None
    replicas_assignments: Annotated[
        dict[Int, list[Int]] | None, Meta(description="The brokers of each partition, which win over both counts.")
    ] = None
    configs: list[ConfigEntry] | None = None
    validate_only: bool | None = None


class PartitionCount(Struct, forbid_unknown_fields=True):
    """The number of partitions that a topic is to have."""

    partitions_count: Int


#: Any other text is refused with an error of its own.
_Latest = Annotated[str, Meta(extra_json_schema={"pattern": "^(latest|[0-9]+)$"})]
_BeforeOffset = Annotated[Long | _Latest, Meta(description="An offset, or `latest` for all records.")]


class BeforeOffset(Struct, forbid_unknown_fields=True):
    """The first offset to keep."""

    before_offset: _BeforeOffset


class BeforeOffsetOfPartition(Struct, forbid_unknown_fields=True):
    """A partition and the first offset to keep."""

    partition_id: Int
    before_offset: _BeforeOffset


class BeforeOffsets(Struct, forbid_unknown_fields=True):
    """Several partitions of a topic."""

    data: list[BeforeOffsetOfPartition]


class Acl(Struct, forbid_unknown_fields=True):
    """An entry to create; a value that only filters have is refused with an error of its own."""

    resource_type: Annotated[str, Meta(extra_json_schema={"enum": RESOURCE_TYPES})]
    resource_name: Text
    pattern_type: Annotated[str, Meta(extra_json_schema={"enum": PATTERN_TYPES})]
    principal: Text
    host: Text
    operation: Annotated[str, Meta(extra_json_schema={"enum": OPERATIONS})]
    permission: Annotated[str, Meta(extra_json_schema={"enum": PERMISSIONS})]


class Acls(Struct, forbid_unknown_fields=True):
    """Entries to create."""

    data: list[Acl] | None = None


class OffsetTarget(Struct, forbid_unknown_fields=True):
    """The offset to commit for one partition, or for all of a topic.

    One of offset, timestamp, to and shift_by says which offset.
    """

    topic_name: Text
    partition_id: Annotated[Int | None, Meta(description="All partitions unless given.")] = None
    offset: Long | None = None
    timestamp: Annotated[Long | str | None, Meta(description="Milliseconds or an ISO-8601 instant.")] = None
    to: Annotated[str | None, Meta(extra_json_schema={"enum": ["earliest", "latest", None]})] = None
    shift_by: Long | None = None
    metadata: Text | None = None


class OffsetTargets(Struct, forbid_unknown_fields=True):
    """The offsets to commit."""

    data: list[OffsetTarget]
    validate_only: bool | None = None


_Format = Annotated[
    Literal["auto", "schema", "json", "bytes"] | None,
    Meta(
        description="`auto` (the default): by its frame if it has one; `schema` requires one; `bytes` is not decoded."
    ),
]


class DeadLetterPlace(Struct, forbid_unknown_fields=True):
    """The position of a letter in its topic."""

    partition_id: Int
    offset: Long


class DeadLetterReplay(Struct, forbid_unknown_fields=True):
    """The letters to replay, and their repair."""

    letters: Annotated[list[DeadLetterPlace], Meta(description="From 1 to 500.")]
    to_topic: Annotated[Text | None, Meta(description="Each record's own topic unless given.")] = None
    schema_id: Annotated[Int | None, Meta(description="The id to put into the frame, or before bytes without one.")] = (
        None
    )
    part: Annotated[
        Literal["key", "value"] | None, Meta(description="What `schema_id` is for: value unless given.")
    ] = None
    key_format: _Format = None
    value_format: _Format = None
    again: Annotated[bool | None, Meta(description="Whether letters that were replayed before are sent again.")] = None
    max_attempts: Annotated[
        Int | None, Meta(description="Records that were replayed so many times are refused: 2 unless given.")
    ] = None
    validate_only: Annotated[bool | None, Meta(description="Whether nothing is sent.")] = None


class PartitionOffset(Struct, forbid_unknown_fields=True):
    """The offset to begin at in a partition."""

    partition_id: int
    offset: int


class ConsumeRequest(Struct, forbid_unknown_fields=True):
    """The start of a read (by default the end of the log), and how much to return."""

    offsets: list[PartitionOffset] | None = None
    from_beginning: bool | None = None
    timestamp: int | None = None
    max_poll_records: int | None = None
    fetch_max_bytes: int | None = None
    message_max_bytes: int | None = None
