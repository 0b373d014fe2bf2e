"""Models of the parts that all answers have: metadata, relations and errors."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Error(TypedDict):
    """An error."""

    error_code: int
    message: str


class Relation(TypedDict):
    """A link to a related resource."""

    related: str


class Metadata(TypedDict):
    """The URL and the resource name (CRN) of an item."""

    self: str
    resource_name: NotRequired[str]


class ListMetadata(TypedDict):
    """The URL of a list."""

    self: str
    next: Annotated[str | None, Field(description="The URL of the next part; null if there is none.")]


class Item(TypedDict):
    """An item of the cluster."""

    metadata: Metadata
    cluster_id: str


class Collection(TypedDict):
    """A list of items."""

    metadata: ListMetadata
