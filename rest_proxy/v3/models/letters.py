"""Models of replayed dead letters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from rest_proxy.v3.models.frame import Item


class ReplayedLetter(TypedDict):
    """The outcome of a letter."""

    partition_id: int
    offset: int
    outcome: Annotated[
        Literal["sent", "would_be_sent", "stays", "left"],
        Field(description="`left`: the request was too large or took too long to reach it; ask for it again."),
    ]
    topic_name: Annotated[str | None, Field(description="The topic that its record was sent to.")]
    reason: Annotated[str | None, Field(description="Why it stays, in the words of `magicbyte dead-letter replay`.")]
    detail: Annotated[str | None, Field(description="Why it stays.")]


class MissingRight(TypedDict):
    """A right that the sender would need."""

    operation: str
    resource_type: str
    resource_name: str


class KafkaDeadLetterReplay(Item):
    """A replay of dead letters."""

    kind: Literal["KafkaDeadLetterReplay"]
    topic_name: str
    validate_only: bool
    letters: list[ReplayedLetter]
    missing_rights: Annotated[
        list[MissingRight],
        Field(description="With `validate_only`: what the sender lacks, besides WRITE on the topics of the records."),
    ]
    warnings: Annotated[
        list[str], Field(description="With `validate_only`: the other consumer groups that would see records again.")
    ]
