"""The bodies that endpoints declare: read in one way for all media types, and described by a model."""

# Older versions of FastAPI cannot resolve postponed annotations of objects that are called.
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Annotated, Any

from fastapi import Depends

from magicbyte.http.routing.request import Request
from registry.http import models
from registry.http.bodies import body_of, json_of
from registry.http.spooled_body import SpooledBody


class JsonBody:
    """A dependency that reads a JSON body in any media type that the row takes.

    Attributes:
        model: The type that describes the body.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    async def __call__(self, request: Request) -> Any:
        """Return the body's JSON object.

        Raises:
            ApiError: 400 if it is not JSON or not an object, 422 if it is empty or null.
        """
        return await body_of(request)


class JsonArrayBody(JsonBody):
    """A dependency that reads a JSON body of any kind."""

    async def __call__(self, request: Request) -> Any:
        """Return the body's JSON value.

        Raises:
            ApiError: 400 if it is not JSON, 422 if it is empty or null.
        """
        return await json_of(request)


class _KeptLines:
    """A dependency that keeps the body in a temporary file until the request is answered.

    Attributes:
        model: The type that describes the body.
    """

    model = str

    async def __call__(self, request: Request) -> AsyncIterator[SpooledBody]:
        """Receive the whole body.

        Raises:
            ApiError: 50001 if the temporary folder has no room for it.
        """
        with closing(await SpooledBody.receive(request)) as body:
            yield body


#: A schema to register, to look up, to check or to outline.
SchemaBody = Annotated[dict[str, Any], Depends(JsonBody(models.RegisterSchemaRequest))]
TagsBody = Annotated[dict[str, Any], Depends(JsonBody(models.TagSchemaRequest))]
ConfigBody = Annotated[dict[str, Any], Depends(JsonBody(models.ConfigUpdateRequest))]
ModeBody = Annotated[dict[str, Any], Depends(JsonBody(models.Mode))]
AnyBody = Annotated[dict[str, Any], Depends(JsonBody(dict[str, Any]))]
RulesBody = Annotated[Any, Depends(JsonArrayBody(list[models.AccessRule]))]
RepairBody = Annotated[dict[str, Any], Depends(JsonBody(models.RepairRequest))]
#: Lines of JSON.
LinesBody = Annotated[SpooledBody, Depends(_KeptLines())]
