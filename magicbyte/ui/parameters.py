"""The parameters and bodies that the page's endpoints declare."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query
from pydantic import WithJsonSchema

from magicbyte.http.asgi import list_header
from magicbyte.http.routing.described_body import DescribedBody
from magicbyte.http.routing.request import Request
from magicbyte.ui.messages.letter_request import LetterRequest, LettersRequest
from magicbyte.ui.messages.request import DecodeRequest, EncodeRequest, ExampleRequest
from magicbyte.ui.messages.scan_request import ScanRequest
from magicbyte.ui.paths import path_below, path_of_registry, path_of_rest
from magicbyte.ui.together import TogetherRequest

#: Read from the request, which has the path as it was sent.
_Segments = Annotated[str, Path(description="One or more segments")]
_TEXT = WithJsonSchema({"type": "string"})


async def _path_of_front(request: Request) -> str | None:
    return path_below(request)


async def _path_of_file(request: Request, path: _Segments) -> str | None:  # noqa: ARG001  see above
    return path_below(request)


async def _path_of_rest(request: Request, path: _Segments) -> str:  # noqa: ARG001  as above
    return path_of_rest(request)


async def _path_of_registry(request: Request, path: _Segments) -> str:  # noqa: ARG001  as above
    return path_of_registry(request)


async def _accepted_codings(
    request: Request,
    _first: Annotated[
        str | None,
        _TEXT,
        Header(alias="Accept-Encoding", description="The codings that the client accepts: br and gzip are used."),
    ] = None,
) -> str:
    # FastAPI reads one line of the header, and the list may have several.
    return list_header(request.scope, b"accept-encoding") or ""


#: The path below `/ui/`; None for `/ui` itself. Raises 404 for a path that begins with something else.
FrontPath = Annotated[str | None, Depends(_path_of_front)]
FilePath = Annotated[str | None, Depends(_path_of_file)]
#: The path at the REST proxy. Raises 404 for a resource that the page does not use.
RestPath = Annotated[str, Depends(_path_of_rest)]
#: The path at the registry. Raises 404 for a path with dot segments.
RegistryPath = Annotated[str, Depends(_path_of_registry)]
AcceptedCodings = Annotated[str, Depends(_accepted_codings)]
IfNoneMatch = Annotated[
    str | None,
    _TEXT,
    Header(alias="If-None-Match", description="The ETag of an earlier answer; 304 if it is still current."),
]
PipelineName = Annotated[
    str | None,
    _TEXT,
    Query(alias="name", description="Only this pipeline, with the details of its inputs, steps and schema ids."),
]

#: Bodies of messages, which a worker process reads.
DecodeBody = Annotated[None, Depends(DescribedBody(DecodeRequest))]
EncodeBody = Annotated[None, Depends(DescribedBody(EncodeRequest))]
ExampleBody = Annotated[None, Depends(DescribedBody(ExampleRequest))]
TogetherBody = Annotated[None, Depends(DescribedBody(TogetherRequest))]
ScanBody = Annotated[None, Depends(DescribedBody(ScanRequest))]
LettersBody = Annotated[None, Depends(DescribedBody(LettersRequest))]
LetterBody = Annotated[None, Depends(DescribedBody(LetterRequest))]
#: A body that is passed on.
AnyBody = Annotated[None, Depends(DescribedBody(Any, {"*/*": Any}))]
