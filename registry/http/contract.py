"""The parts of openapi/registry.yaml besides its operations; run this module to write the file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from magicbyte import __version__
from magicbyte.http.routing.description import Answer, Description, MediaTypes, to_yaml
from magicbyte.http.routing.rows import Row
from registry.http import models
from registry.http.answers import PRODUCED, negotiated, negotiated_if_possible, negotiated_lines, unnegotiated
from registry.http.rows import ROWS

_JSON = tuple(produced.essence for produced in PRODUCED)
_BYTES = "application/octet-stream"
_LINES = "application/x-ndjson"

_INFO = {
    "title": "Magicbyte Schema Registry",
    "version": __version__,
    "description": "Versioned Avro, JSON and Protobuf schemas with the API of Confluent's Schema Registry. Every path "
    "but those of the server also works behind `/contexts/{context}`, for the subjects of that context. Answers to all "
    "requests but GET and HEAD carry the header `X-Magicbyte-Offset`; any request may send it back, and is then "
    "answered from the log up to there, or with 503. A body may lack a media type. Bodies come without a "
    "Content-Encoding (415), of known length or chunked (501), by HTTP/1.1 with one Host (400) or HTTP/1.0 (505 for "
    'others). Errors are `{"error_code": .., "message": ".."}`; the HTTP status is the code if that has three digits, '
    "else its first "
    "three.",
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}
_TAGS = {
    "subjects": "Subjects and their versions",
    "schemas": "Schemas by id and guid, and all of them",
    "compatibility": "May a schema follow the versions of a subject?",
    "config": "Compatibility levels and other settings, globally, by context or by subject",
    "mode": "What may be written, globally, by context or by subject",
    "contexts": "Contexts",
    "extensions": "Beyond the reference: search, the change feed, export and import",
    "security": "Access rules",
    "server": "The server itself",
}
#: Segments of paths that the reference does not have.
_EXTENSIONS = frozenset({"admin", "compare", "events", "export", "graph", "import", "outline", "overview", "search"})
_MEDIA_TYPES = MappingProxyType(
    {
        negotiated: MediaTypes(produced=_JSON, consumed=(*_JSON, _BYTES)),
        negotiated_if_possible: MediaTypes(produced=_JSON),
        negotiated_lines: MediaTypes(produced=_JSON, consumed=(_LINES, _BYTES)),
        unnegotiated: MediaTypes(produced=_JSON),
    }
)
_ANSWERS: Mapping[str, Mapping[int, Answer]] = {
    "listSchemas": {
        200: Answer(
            "The versions.",
            models.Schemas,
            headers={"Link": 'If there are more versions: `<URL of the next page>; rel="next"`.'},
        )
    },
    "getOverview": {
        200: Answer(
            "A row for each subject, sorted by subject. All columns have the same length.",
            models.Overview,
            by_media_type={_LINES: str},
            headers={"ETag": "Changes with the log, and with the rights of the sender."},
        ),
        304: Answer("The answer with the ETag of If-None-Match is still current."),
    },
    "followChanges": {200: Answer("The events, without an end.", by_media_type={"text/event-stream": str})},
    "exportAll": {
        200: Answer(
            "A manifest, contexts, schemas, configs and modes, and an end line with the SHA-256 of the lines before "
            "it.",
            by_media_type={_LINES: str},
        )
    },
    "importAll": {200: Answer("What came of the lines.", models.ImportReport)},
    "putGlobalConfig": {200: Answer("All of what is stored now.", models.ConfigUpdateRequest)},
    "putSubjectConfig": {200: Answer("All of what is stored now.", models.ConfigUpdateRequest)},
    "deleteContext": {204: Answer("Done.")},
    "listRules": {304: Answer("No rule has changed.")},
    "addRules": {201: Answer("Access rules, sorted by their parts.", models.AccessRules)},
    "root": {200: Answer("An object.", models.AnyObject), 303: Answer("To the page, for a browser.")},
    "ready": {503: Answer("The state of the node.", models.Health)},
    "health": {503: Answer("An object.", models.AnyObject)},
    "docs": {200: Answer("The page.", by_media_type={"text/html": str})},
    "metrics": {200: Answer("The metrics.", by_media_type={"text/plain": str})},
}
_OFFSET_TOKEN = {
    "name": "X-Magicbyte-Offset",
    "in": "header",
    "description": "Extension, of every operation: a token `<log id>:<offset>` of an earlier answer. The node answers "
    "from the log up to that offset, or with 503 if it does not get there in 5 s. Tokens of other logs are ignored.",
    "schema": {"type": "string"},
}


def _tag_of(row: Row) -> str:
    segments = row.path.split("/")
    if not _EXTENSIONS.isdisjoint(segments):
        return "extensions"
    return segments[1] if segments[1] in _TAGS else "server"


DESCRIPTION = Description(
    info=_INFO,
    tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
    error=models.Error,
    error_media_types=_JSON,
    media_types=_MEDIA_TYPES,
    answers=_ANSWERS,
    tag_of=_tag_of,
    parameters={"offsetToken": _OFFSET_TOKEN},
)


def text() -> str:
    """Return the text of openapi/registry.yaml."""
    return to_yaml(DESCRIPTION.document(ROWS))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
