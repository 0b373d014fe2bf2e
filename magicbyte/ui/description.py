"""The parts of openapi/ui.yaml besides its operations; run this module to write the file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from magicbyte import __version__
from magicbyte.http.asgi import Scope
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.description import Answer, Description, MediaTypes, to_yaml
from magicbyte.http.routing.rows import Row
from magicbyte.ui import letter_models, models
from magicbyte.ui.app import Page, json_errors
from magicbyte.ui.messages.exchange import Question, Reply
from magicbyte.ui.messages.request import LARGEST_BODY
from magicbyte.ui.paths import FOLDER
from magicbyte.ui.pipelines.models import Pipelines

_JSON = ("application/json",)
_INFO = {
    "title": "Magicbyte's page",
    "version": __version__,
    "description": "The page at `/ui/`, beside the registry or in front of one (`magicbyte ui`), and the requests that "
    "only the page needs. Everything that it shows comes from the registry's own API. Errors are "
    '`{"error_code": .., "message": ".."}`.',
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}
_TAGS = {
    "page": "The files, which contain no data and need no sign-in",
    "messages": "Messages, decoded and encoded with the schemas that the sender may read",
    "registry": "Requests that are sent to the registry as the sender",
    "pipelines": "Pipelines, from their metrics ports and from the markers of their Kafka sinks",
    "rest": "Requests that are passed on to the REST proxy of `magicbyte.ui.rest.url`",
}
_FILE = {
    200: Answer("The file", by_media_type={"*/*": str}),
    304: Answer("The file has the ETag that the request names"),
}
_RETRY_AFTER = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}}
_PROBLEMS = {
    400: Answer(f"The body is no such request, or has more than {LARGEST_BODY} bytes", models.Error),
    422: Answer(
        "The schema cannot be used; or the request takes more than `magicbyte.ui.messages.cpu.ms` of processor time or "
        "`magicbyte.ui.messages.memory.bytes` of memory, or its example is too large. The message names the limit",
        models.Error,
    ),
    429: Answer(
        "Eight requests of this client wait already, or none had its turn within 20 s",
        models.Error,
        headers=_RETRY_AFTER,
    ),
    503: Answer(
        "The registry did not answer within `magicbyte.ui.messages.timeout.ms`, or no worker process could work on it",
        models.Error,
        headers=_RETRY_AFTER,
    ),
}
_MESSAGES = "One item for each message, in order"
_PASSED = {
    200: Answer("The proxy's answer; its status may be any", by_media_type={"*/*": Any}),
    403: Answer("A write while `magicbyte.ui.read.only` is set", models.Error),
    502: Answer("The proxy cannot be reached", models.Error),
    504: Answer("Its answer did not begin within 30 s", models.Error),
}
_ANSWERS: Mapping[str, Mapping[int, Answer]] = {
    "getPage": {303: Answer("The address of the page"), **_FILE},
    "getPageFile": _FILE,
    "getPageConfig": {200: Answer("The configuration", models.PageConfig)},
    "decodeMessages": {200: Answer(_MESSAGES, models.DecodedMessages), **_PROBLEMS},
    "encodeMessages": {200: Answer(_MESSAGES, models.EncodedMessages), **_PROBLEMS},
    "makeExampleMessage": {200: Answer("A value", models.AnyObject), **_PROBLEMS},
    "searchMessages": {
        200: Answer("The lines of the search", by_media_type={"application/x-ndjson": models.ScanLine}),
        400: Answer("The body is no such request", models.Error),
        404: Answer("There is no such topic or partition, or no REST proxy", models.Error),
        429: Answer("Too many searches run, and none had its turn within 20 s", models.Error, headers=_RETRY_AFTER),
        502: Answer("The REST proxy cannot be reached", models.Error),
        504: Answer("It did not answer within 30 s", models.Error),
    },
    "readTogether": {
        200: Answer(
            "A line for each GET, in the order in which they are answered",
            by_media_type={"application/x-ndjson": models.TogetherLine},
        ),
        400: Answer("The body is no such request", models.Error),
    },
    "countDeadLetters": {
        200: Answer("The lines of the count", by_media_type={"application/x-ndjson": letter_models.LetterLine}),
        400: Answer("The body is no such request, or `where` is no condition", models.Error),
        404: Answer("There is no such topic, or no REST proxy with version 3", models.Error),
        429: Answer("Too many searches run, and none had its turn within 20 s", models.Error, headers=_RETRY_AFTER),
        502: Answer("The REST proxy cannot be reached", models.Error),
        504: Answer("It did not answer within 30 s", models.Error),
    },
    "showDeadLetter": {
        200: Answer("The letter", letter_models.ShownLetter),
        404: Answer("There is no such topic or letter, or no REST proxy with version 3", models.Error),
        502: Answer("The REST proxy or the registry cannot be reached", models.Error),
        504: Answer("The REST proxy did not answer within 30 s", models.Error),
        **_PROBLEMS,
    },
    "listPipelines": {
        200: Answer("The pipelines", Pipelines),
        401: Answer("Nobody has signed in", models.Error),
        502: Answer("The registry that decides on the sign-in cannot be reached (`magicbyte ui`)", models.Error),
        504: Answer("It did not answer within 30 s", models.Error),
    },
    **dict.fromkeys(("readFromRestProxy", "postToRestProxy", "deleteFromRestProxy"), _PASSED),
}


_OF_MESSAGES = frozenset(("decode", "encode", "example", "messages", "dead-letters", "dead-letter"))


def _tag_of(row: Row) -> str:
    folder = row.path.removeprefix(FOLDER).partition("/")[0]
    if folder in ("rest", "pipelines.json"):
        return folder.removesuffix(".json")
    if folder == "together":
        return "registry"
    return "messages" if folder in _OF_MESSAGES else "page"


DESCRIPTION = Description(
    info=_INFO,
    tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
    error=models.Error,
    error_media_types=_JSON,
    media_types=MappingProxyType({json_errors: MediaTypes(produced=_JSON, consumed=_JSON)}),
    answers=_ANSWERS,
    tag_of=_tag_of,
    error_text="An error",
)


async def _read_nothing(_scope: Scope, _question: Question) -> Reply:
    return Reply(0)


def page_rows() -> tuple[Row, ...]:
    """Return the rows of a page that nobody opens."""
    return Page(
        PageSettings.from_properties({}), registry_base="../", read_registry=_read_nothing, has_rules=False
    ).rows()


def text() -> str:
    """Return the text of openapi/ui.yaml."""
    return to_yaml(DESCRIPTION.document(page_rows()))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
