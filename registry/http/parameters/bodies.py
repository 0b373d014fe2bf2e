"""The bodies that endpoints declare: their models read them, whatever the media type, and describe them."""

# Older versions of FastAPI cannot resolve postponed annotations of objects that are called.
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Annotated, Any

from fastapi import Depends

from magicbyte.http.routing.request import Request
from registry.http import models
from registry.http.bodies import SCHEMA_READER
from registry.http.body_reader import BodyReader, json_of
from registry.http.spooled_body import SpooledBody


class JsonBody:
    """A dependency that reads a JSON body in any media type that the row takes.

    Attributes:
        model: The type that reads the body and describes it.
    """

    def __init__(self, reader: BodyReader) -> None:
        """Make the dependency that uses a reader."""
        self.model = reader.model
        self._reader = reader

    async def __call__(self, request: Request) -> Any:
        """Return the body in its model.

        Raises:
            ApiError: 400 if it is not JSON or a member has the wrong type, 422 if it is empty or null.
        """
        return await self._reader.read(request)


class _RuleList:
    """A dependency that reads a JSON body, which the reader of rules checks: a file of rules has the same errors.

    Attributes:
        model: The type that describes the body.
    """

    model = list[models.AccessRule]

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
SchemaBody = Annotated[models.RegisterSchemaRequest, Depends(JsonBody(SCHEMA_READER))]
TagsBody = Annotated[models.TagSchemaRequest, Depends(JsonBody(BodyReader(models.TagSchemaRequest)))]
ConfigBody = Annotated[models.ConfigUpdateRequest, Depends(JsonBody(BodyReader(models.ConfigUpdateRequest)))]
ModeBody = Annotated[models.ModeUpdateRequest, Depends(JsonBody(BodyReader(models.ModeUpdateRequest)))]
AnyBody = Annotated[dict[str, Any], Depends(JsonBody(BodyReader(dict[str, Any])))]
RulesBody = Annotated[Any, Depends(_RuleList())]
RepairBody = Annotated[models.RepairRequest, Depends(JsonBody(BodyReader(models.RepairRequest)))]
#: Lines of JSON.
LinesBody = Annotated[SpooledBody, Depends(_KeptLines())]
