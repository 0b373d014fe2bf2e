"""The parts of openapi/rest-proxy-v2.yaml besides its operations; run this module to write the file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from magicbyte import __version__
from magicbyte.http.routing.description import Answer, Description, MediaTypes, to_yaml
from magicbyte.http.routing.rows import Row
from rest_proxy.exchange.dialect import V1, V2
from rest_proxy.exchange.negotiation import (
    PLAIN,
    V1_FORMATS,
    generic,
    generic_or_embedded,
    produce,
    records,
    unnegotiated,
    v1_records,
)
from rest_proxy.formats.embedded import FORMATS
from rest_proxy.http import models
from rest_proxy.http.rows import ROWS

_INFO = {
    "title": "Magicbyte REST Proxy, v2 and v1",
    "version": __version__,
    "description": "Kafka over HTTP with the API of the REST Proxy, versions 2 and 1. A media type names the version, "
    'and for records the embedded format. Errors are `{"error_code": .., "message": ".."}`; the HTTP status is the '
    "code if that has three digits, else mostly its first three. Bodies come without a Content-Encoding (415), of "
    "known length or chunked (501), by HTTP/1.1 with one Host (400) or HTTP/1.0 (505 for others). A body of "
    "`application/json`, `application/octet-stream` or no media type is version 1's, and its records are binary; "
    "`Accept` decides the version of a request without records.",
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}
_TAGS = {
    "topics": "Topics and partitions, and producing to them",
    "consumers": "Consumer instances",
    "operations": "Health and metrics",
}
_GENERIC = (V2.generic, V1.generic)
_V2_RECORDS = tuple(f"application/vnd.kafka.{name}.v2+json" for name in FORMATS)
_V1_RECORDS = tuple(f"application/vnd.kafka.{name}.v1+json" for name in V1_FORMATS)
_MEDIA_TYPES = MappingProxyType(
    {
        generic: MediaTypes(produced=_GENERIC, consumed=_GENERIC),
        generic_or_embedded: MediaTypes(produced=_GENERIC, consumed=_GENERIC),
        produce: MediaTypes(produced=_GENERIC, consumed=(*_V2_RECORDS, *_V1_RECORDS)),
        records: MediaTypes(produced=_V2_RECORDS),
        v1_records: MediaTypes(produced=_V1_RECORDS),
        unnegotiated: MediaTypes(produced=(PLAIN,)),
    }
)
_PRODUCED = {
    200: Answer("What became of each record, in order; a record's own error stands beside it.", models.ProduceResponse),
    429: Answer(
        "Too many bytes wait for the brokers, or too many requests for their validation; nothing was sent.",
        models.Error,
        headers={"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
    ),
}
_V1_READ = {200: Answer("The records, up to the end of the log.", models.Records)}
_ANSWERS: Mapping[str, Mapping[int, Answer]] = {
    "produceToTopic": _PRODUCED,
    "produceToPartition": _PRODUCED,
    "messages": _V1_READ,
    "readTopic": _V1_READ,
    "records": {200: Answer("The records; none if none came in time.", models.Records)},
    "deleteConsumer": {204: Answer("It is closed.")},
    "commit": {
        200: Answer("Committed.", by_media_type={V2.generic: models.EmptyList, V1.generic: models.CommitsV1}),
    },
    "live": {200: Answer("It does.", models.Health)},
    "ready": {200: Answer("A broker answers.", models.Health), 503: Answer("No broker answers.", models.Health)},
    "contract": {200: Answer("The document.", models.AnyObject)},
    "metrics": {200: Answer("The metrics.", by_media_type={"text/plain": str})},
}


def _tag_of(row: Row) -> str:
    tag = row.path.split("/")[1]
    return "topics" if tag == "brokers" else tag if tag in _TAGS else "operations"


DESCRIPTION = Description(
    info=_INFO,
    tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
    error=models.Error,
    error_media_types=(*_GENERIC, PLAIN, *_V2_RECORDS, *_V1_RECORDS),
    media_types=_MEDIA_TYPES,
    answers=_ANSWERS,
    tag_of=_tag_of,
    error_text="An error; 406 has no body.",
)


def text() -> str:
    """Return the text of openapi/rest-proxy-v2.yaml."""
    return to_yaml(DESCRIPTION.document(ROWS))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
