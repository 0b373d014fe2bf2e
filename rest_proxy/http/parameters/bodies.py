"""The bodies that endpoints of v2 declare, whatever the media type: the shapes that read them also describe them."""

# Older versions of FastAPI cannot resolve postponed annotations of objects that are called.
from typing import Annotated, Any

from fastapi import Depends

from magicbyte.http.routing.described_body import DescribedBody
from magicbyte.http.routing.request import Request
from rest_proxy.exchange import bodies
from rest_proxy.http import models


class JsonBody:
    """A dependency that reads a required body.

    Attributes:
        model: The type that describes the body.
        is_required: Whether a body that is missing is refused.
    """

    is_required = True

    def __init__(self, shape: Any) -> None:
        """Make the dependency; the shape reads the body and describes it."""
        self.model = shape
        self._decoder = bodies.reader_of(shape)

    async def __call__(self, request: Request) -> Any:
        """Return the body in its shape.

        Raises:
            ApiError: 400 if it is not JSON or has wrong types, 422 if it has an unknown member, or is null or empty.
        """
        return bodies.read(self._decoder, await request.body())


class OptionalBody(JsonBody):
    """A dependency that reads a body that may be missing or null; then it is None."""

    is_required = False

    def __init__(self, shape: Any) -> None:
        """Make the dependency; the shape is that of a body that is not null."""
        super().__init__(shape)
        self._decoder = bodies.reader_of(shape | None)

    async def __call__(self, request: Request) -> Any:
        """Return the body in its shape.

        Raises:
            ApiError: As `JsonBody`, but for a body that is null or empty.
        """
        return bodies.read(self._decoder, await request.body() or b"null")


class BlankBody(JsonBody):
    """A dependency that reads a body that may be missing, also if it consists of whitespace; then it is None."""

    is_required = False

    async def __call__(self, request: Request) -> Any:
        """Return the body in its shape.

        Raises:
            ApiError: As `JsonBody`, but for a body that is null or blank.
        """
        body = await request.body()
        return None if bodies.is_null(body) else bodies.read(self._decoder, body)


_BINARY = (f"application/vnd.kafka.binary.{version}+json" for version in ("v2", "v1"))

#: The body of a produce request, which the handler reads itself.
ProduceBody = Annotated[
    None, Depends(DescribedBody(models.ProduceRequest, dict.fromkeys(_BINARY, models.BinaryProduceRequest)))
]
StringMapBody = Annotated[dict[str, str] | None, Depends(OptionalBody(dict[str, str]))]
ConfigBody = Annotated[bodies.ConsumerConfig | None, Depends(OptionalBody(bodies.ConsumerConfig))]
SubscriptionBody = Annotated[bodies.Subscription, Depends(JsonBody(bodies.Subscription))]
OffsetsBody = Annotated[bodies.OffsetsToCommit | None, Depends(BlankBody(bodies.OffsetsToCommit))]
PositionsBody = Annotated[bodies.Positions, Depends(JsonBody(bodies.Positions))]
PlacesBody = Annotated[bodies.Places, Depends(JsonBody(bodies.Places))]
#: Without a body there are no partitions, which the handler refuses with an error of its own.
PlacesIfGiven = Annotated[bodies.Places | None, Depends(BlankBody(bodies.Places))]
