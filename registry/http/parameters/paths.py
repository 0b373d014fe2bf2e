"""The parameters of paths, and the subject or context that they mean."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path
from pydantic import BeforeValidator

from magicbyte.http.routing.request import Request
from registry.http.parameters.kinds import INT32, TEXT
from registry.http.request import context_name, schema_id, settings_subject_of, subject_of, version_number

_VERSION_IN_PATH = BeforeValidator(lambda raw: version_number(unquote(raw)))


async def _subject(
    request: Request,
    subject: Annotated[  # noqa: ARG001  read from the request, which has its context
        str, Path(description="The subject, percent-encoded; `:.context:name` outside the default context.")
    ],
) -> str:
    return subject_of(request)


async def _settings_subject(
    request: Request,
    subject: Annotated[  # noqa: ARG001  as above
        str, Path(description="The subject, percent-encoded; `:.context:name` outside the default context.")
    ],
) -> str | None:
    return settings_subject_of(request)


async def _settings_context(request: Request) -> str | None:
    return settings_subject_of(request)


#: The subject in the path, in wire form, with aliases resolved. Raises 42208 and 40301.
Subject = Annotated[str, Depends(_subject)]
#: The subject or context in the path whose settings are meant. Raises 42208 and 40301.
SettingsSubject = Annotated[str | None, Depends(_settings_subject)]
#: The context whose settings are meant; None for the global ones.
SettingsContext = Annotated[str | None, Depends(_settings_context)]
#: The version in the path; None for `latest`. Raises 42202.
VersionNumber = Annotated[
    int | None,
    _VERSION_IN_PATH,
    TEXT,
    Path(alias="version", description="A version number from 1, or `latest` (`-1` is the same)."),
]
#: The schema id in the path; a path without an integer is not a route.
SchemaId = Annotated[
    int, BeforeValidator(schema_id), INT32, Path(alias="id", description="The schema id within its context.")
]
Guid = Annotated[
    str, BeforeValidator(unquote), Path(alias="guid", description="The guid: the MD5 of the content, as a UUID.")
]
#: The name of the context in the path, with its leading dot. Raises 400 if it contains a colon.
ContextName = Annotated[
    str,
    BeforeValidator(context_name),
    Path(alias="context", description="The context, with or without its leading dot."),
]
