"""The bodies of the requests: they name the schema and hold the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypeVar

import msgspec
from msgspec import Meta

#: The most items of a request, and the largest body in bytes: 1 MiB of data as base64, and the JSON around it.
MOST_ITEMS = 100
LARGEST_DATA = 1 << 20
LARGEST_BODY = LARGEST_DATA * 4 // 3 + 65_536
_MOST_OFFSET = 2**63 - 1


@dataclass(frozen=True, slots=True)
class BadRequest(Exception):
    """A request that cannot be understood, and the reason."""

    detail: str

    def __str__(self) -> str:
        return self.detail


class Checked(Protocol):
    """A request that checks itself."""

    def check(self) -> None:
        """Check the conditions that types cannot express.

        Raises:
            BadRequest: A member has a value that makes no sense.
        """


class Common(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    """The members that all requests share."""

    topic: Annotated[
        str | None, Meta(description="The topic, whose subjects are `{topic}-key` and `{topic}-value`")
    ] = None
    is_key: Annotated[bool, Meta(description="Whether the data is keys")] = False
    context: Annotated[str | None, Meta(description="The context whose ids are meant, such as `.eu`")] = None
    schema_id: Annotated[int | None, Meta(description="The id of the schema to use")] = None
    unions: Annotated[
        str, Meta(description="How Avro's unions are written", extra_json_schema={"enum": ["plain", "tagged"]})
    ] = "plain"
    logical: Annotated[
        bool, Meta(description="Whether Avro's decimals, dates and times are texts that people read")
    ] = True

    @property
    def part(self) -> str:
        """`key` or `value`."""
        return "key" if self.is_key else "value"

    @property
    def prefix(self) -> str:
        """The prefix that puts a subject into the context; empty for the default context."""
        return f":{self.context}:" if self.context and self.context != "." else ""

    def check(self) -> None:
        """Check the conditions that types cannot express.

        Raises:
            BadRequest: A member has a value that makes no sense.
        """
        if self.unions not in {"plain", "tagged"}:
            raise BadRequest(f"unions must be plain or tagged, not {self.unions[:40]!r}")
        if self.context is not None and not (self.context.startswith(".") and ":" not in self.context):
            raise BadRequest(f"context must begin with a dot and have no colon, not {self.context[:40]!r}")
        if self.schema_id is not None and not 0 <= self.schema_id < 2**31:
            raise BadRequest(f"schemaId must be between 0 and 2147483647, not {self.schema_id}")


def check_numbers(**numbers: int | None) -> None:
    """Check offsets, partitions and times, by the names of their members; None is no number.

    Raises:
        BadRequest: A number is negative or too large.
    """
    for name, number in numbers.items():
        if number is not None and not 0 <= number <= _MOST_OFFSET:
            raise BadRequest(f"{name} must be between 0 and {_MOST_OFFSET}, not {number}")


class Framed(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A message whose frame may be in a header."""

    data: Annotated[str, Meta(description="The message's bytes in base64")]
    header: Annotated[
        str | None,
        Meta(description="The value of its header `__key_schema_id` or `__value_schema_id`, in base64"),
    ] = None


_Message = Annotated[
    str | Framed | None,
    Meta(description="The message in base64, alone or with its header of a schema id; null is a tombstone"),
]
_AT_MOST = Meta(extra_json_schema={"maxItems": MOST_ITEMS})


class DecodeRequest(Common):
    """Messages to decode. With `schemaId` the messages have no frame, only a payload."""

    data: Annotated[list[_Message], _AT_MOST] = []


class ReferenceOfProposal(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A version that a proposal refers to, and the name in its text."""

    name: str
    subject: str
    version: int


class Proposal(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    """The text of a schema that is not registered; a message of it has the id 0."""

    schema: str
    schema_type: Literal["AVRO", "JSON", "PROTOBUF"] = "AVRO"
    references: list[ReferenceOfProposal] = []


class Target(Common):
    """A request about one schema: a proposal, else that of `schemaId`, else a version of a subject."""

    proposal: Annotated[
        Proposal | None, Meta(description="The text of a schema that is not registered; a message of it has the id 0")
    ] = None
    subject: Annotated[str | None, Meta(description="The subject's name; by default the topic's")] = None
    version: Annotated[int | str, Meta(description="A number or `latest`")] = "latest"
    message: Annotated[str | None, Meta(description="The full name of the Protobuf message")] = None

    def check(self) -> None:
        """As in the base class; there must be a way to find the schema.

        Raises:
            BadRequest: A member has a value that makes no sense, or the members name no schema.
        """
        super().check()
        if self.proposal is None and self.schema_id is None and not self.subject and not self.topic:
            raise BadRequest("schemaId, subject, topic or proposal is needed to find the schema")
        if isinstance(self.version, str) and self.version != "latest":
            if not (self.version.isascii() and self.version.isdigit() and len(self.version) < 10):
                raise BadRequest(f"version must be a number or latest, not {self.version[:40]!r}")
            self.version = int(self.version)
        if isinstance(self.version, int) and not 0 < self.version < 2**31:
            raise BadRequest(f"version must be between 1 and 2147483647, not {self.version}")

    @property
    def name(self) -> str:
        """The subject: as given, or by TopicNameStrategy; empty if only the id is given."""
        if self.subject:
            return self.subject if self.subject.startswith(":") else f"{self.prefix}{self.subject}"
        return f"{self.prefix}{self.topic}-{self.part}" if self.topic else self.prefix


class EncodeRequest(Target):
    """Values to encode, as JSON."""

    data: Annotated[list[msgspec.Raw], _AT_MOST] = []
    framing: Annotated[
        str,
        Meta(
            description="Whether the schema's id is before the data, or its guid in a header",
            extra_json_schema={"enum": ["prefix", "header"]},
        ),
    ] = "prefix"

    def check(self) -> None:
        """As in the base class.

        Raises:
            BadRequest: A member has a value that makes no sense.
        """
        super().check()
        if self.framing not in {"prefix", "header"}:
            raise BadRequest(f"framing must be prefix or header, not {self.framing[:40]!r}")


class ExampleRequest(Target):
    """The schema to make an example of."""


R = TypeVar("R", bound=Checked)


def read(body: bytes, kind: type[R]) -> R:
    """The request in a body.

    Raises:
        BadRequest: The body is no such request; the text names the member at fault.
    """
    try:
        request = msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is no such request: {error}") from None
    request.check()
    items: list[Any] = getattr(request, "data", [])
    if len(items) > MOST_ITEMS:
        raise BadRequest(f"data has {len(items)} items; at most {MOST_ITEMS} are read")
    return request
