"""The parts of openapi/rest-proxy-v3.yaml besides its operations; run this module to write the file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from magicbyte import __version__
from magicbyte.http.routing.description import Answer, Description, MediaTypes, to_yaml
from magicbyte.http.routing.rows import Row
from rest_proxy.exchange.negotiation import unnegotiated
from rest_proxy.v3 import models
from rest_proxy.v3.envelopes import JSON
from rest_proxy.v3.resources.records.produce import json_stream
from rest_proxy.v3.route import accept_json, json_both_ways
from rest_proxy.v3.rows import V3_ROWS

_INFO = {
    "title": "Magicbyte REST Proxy, v3",
    "version": __version__,
    "description": "Kafka over HTTP with the API of the REST Proxy, version 3: administration, producing and reading. "
    "Every path is also served under `/kafka`, and links in an answer have the prefix of its request. Items have a "
    '`kind`, `metadata` and relations (`{"related": url}`); collections have their items in `data`. Errors are '
    '`{"error_code": .., "message": ".."}`; the HTTP status is the code if it has three digits, else its first three. '
    "Bodies come without a Content-Encoding (415), of known length or chunked (501), by HTTP/1.1 with one Host (400) "
    "or HTTP/1.0 (505 for others).",
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}
_TAGS = {
    "produce": "Producing records",
    "read": "Reading records, without state in the proxy; ours",
    "cluster": "The cluster and its brokers",
    "topics": "Topics, partitions, offsets, replicas and reassignments",
    "configs": "Configurations of topics, of brokers and of the cluster",
    "acls": "Kafka's access control lists",
    "letters": "Dead letters; ours",
    "groups": "Consumer groups, their consumers and lags",
    "operations": "This document",
}
#: The resource in an endpoint's name -> the tag of its operations.
_TAG_OF_RESOURCE = MappingProxyType(
    {
        **dict.fromkeys(("produce", "batch-produce"), "produce"),
        "records": "read",
        **dict.fromkeys(("clusters", "brokers", "cluster-health"), "cluster"),
        **dict.fromkeys(("topics", "partitions", "replicas", "partition-reassignments"), "topics"),
        **dict.fromkeys(
            ("topic-configs", "topics-configs", "broker-configs", "brokers-configs", "cluster-configs"), "configs"
        ),
        "acls": "acls",
        "dead-letters": "letters",
        **dict.fromkeys(
            ("consumer-groups", "consumers", "consumer-assignments", "consumer-lags", "consumer-group-lag-summary"),
            "groups",
        ),
    }
)
_DELETED_RECORDS = "api.v3.records.delete"
_MEDIA_TYPES = MappingProxyType(
    {
        negotiate: MediaTypes(produced=(JSON,), consumed=(JSON,))
        for negotiate in (accept_json, json_both_ways, json_stream, unnegotiated)
    }
)
_DONE = Answer("It is done.")
_ANSWERS: Mapping[str, Mapping[int, Answer]] = {
    "v3Contract": {200: Answer("The document.", models.AnyObject)},
    "createKafkaTopic": {
        200: Answer("The topic could be created; nothing was changed.", models.KafkaTopic),
        201: Answer("The topic.", models.KafkaTopic, headers={"Location": "The topic's URL."}),
    },
    "updateKafkaTopicConfigMultiBatch": {
        204: _DONE,
        207: Answer("Some topics stay as they were.", models.TopicFailures),
    },
    "deleteKafkaRecordsOfPartitions": {207: Answer("What became of each partition.", models.DeletedRecords)},
    "createKafkaAcls": {201: Answer("The entry is made.", headers={"Location": "The entry's URL."})},
    "batchCreateKafkaAcls": {
        204: _DONE,
        207: Answer("The entries that were refused, if the query asks for a report.", models.AclFailures),
    },
    "produceRecord": {200: Answer("The reports.", models.RecordReport | models.Error)},
    "produceRecordsBatch": {207: Answer("What became of the records.", models.ProduceBatchReport)},
}


def _tag_of(row: Row) -> str:
    if not row.endpoint:
        return "operations"
    if row.endpoint == _DELETED_RECORDS:
        return "topics"
    return _TAG_OF_RESOURCE[row.endpoint.split(".")[2]]


DESCRIPTION = Description(
    info=_INFO,
    tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
    error=models.Error,
    error_media_types=(JSON,),
    media_types=_MEDIA_TYPES,
    answers=_ANSWERS,
    tag_of=_tag_of,
    error_text="An error; 406 has no body.",
    servers=({"url": "/"}, {"url": "/kafka"}),
)


def text() -> str:
    """Return the text of openapi/rest-proxy-v3.yaml."""
    return to_yaml(DESCRIPTION.document(V3_ROWS))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
