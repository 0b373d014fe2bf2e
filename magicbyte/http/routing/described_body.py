"""A body that an endpoint declares and reads by itself, such as in parts."""

# Older versions of FastAPI cannot resolve postponed annotations of objects that are called.
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class DescribedBody:
    """A dependency that describes a body and reads nothing.

    Attributes:
        model: The type of the body.
        model_by_media_type: Media type -> the type of the body instead.
    """

    def __init__(self, model: Any, model_by_media_type: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.model = model
        self.model_by_media_type = model_by_media_type

    async def __call__(self) -> None:
        """Leave the body to the endpoint."""
