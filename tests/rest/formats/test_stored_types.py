"""A proxy whose properties choose the stored form of Avro's logical types: all its requests use that form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from magicbyte.testing.servers import running_rest_proxy
from tests.rest.conftest import Rest

MONEY = (
    '{"type":"record","name":"Money","fields":['
    '{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":20,"scale":2}},'
    '{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}}]}'
)
STORED = {"price": "\x04\xe2", "at": 1}


@pytest.fixture(scope="module")
def stored(kafka: str, registry_url: str) -> Iterator[Rest]:
    with (
        running_rest_proxy(kafka, registry_url, properties={"avro.logical.types": "stored"}) as server,
        Rest(base_url=server.url, timeout=30) as client,
    ):
        yield client


def test_all_versions_of_the_api_use_the_stored_form(
    stored: Rest, topic: str, read_topic: Callable[..., list[Any]]
) -> None:
    body = {"value_schema": MONEY, "records": [{"value": STORED}]}
    assert stored.post_v2(f"/topics/{topic}", body, "avro").status_code == 200
    cluster = stored.get("/v3/clusters").json()["data"][0]["cluster_id"]
    records = f"/v3/clusters/{cluster}/topics/{topic}"
    value = {"type": "AVRO", "schema": MONEY, "data": STORED}
    assert stored.post(f"{records}/records", json={"value": value}).json()["error_code"] == 200
    assert [message.value()[5:] for message in read_topic(topic)] == [b"\x04\x04\xe2\x02"] * 2
    instance = stored.read_all(stored.subscribed(topic, format="avro"), 2, "avro")
    v1 = stored.get(
        f"/topics/{topic}/partitions/0/messages",
        params={"offset": 0, "count": 2},
        headers={"accept": "application/vnd.kafka.avro.v1+json"},
    ).json()
    v3 = stored.get(f"{records}/partitions/0/records", params={"offset": 0}).json()["data"]
    assert [record["value"] for record in (*instance, *v1)] == [STORED] * 4
    assert [record["value"]["data"] for record in v3] == [STORED] * 2
