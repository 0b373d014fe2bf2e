"""The REST proxy's counts of records."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from magicbyte.kit.settings import SettingsError
from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.metrics import ACKNOWLEDGED, PRODUCE, RecordCounts
from rest_proxy.settings import RestProxySettings
from tests.rest.conftest import Rest, unique

RECORDS, BYTES = "magicbyte_rest_records_total", "magicbyte_rest_bytes_total"


@pytest.fixture(scope="module")
def named(kafka: str, registry_url: str) -> Iterator[Rest]:
    """A proxy whose metrics name some topics."""
    properties = {"magicbyte.metrics.topics": "named-.*"}
    with (
        running_rest_proxy(kafka, registry_url, properties=properties) as server,
        Rest(base_url=server.url, timeout=60) as client,
    ):
        yield client


def metrics(rest: Rest) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in rest.get("/metrics").text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def changes(rest: Rest, before: dict[str, float], *prefixes: str) -> dict[str, float]:
    return {
        name: value - before.get(name, 0.0)
        for name, value in metrics(rest).items()
        if name.startswith(prefixes) and value != before.get(name, 0.0)
    }


def test_records_are_counted_by_direction_format_and_outcome(rest: Rest, topic: str) -> None:
    before = metrics(rest)
    rest.produce(topic, [{"value": 1}, {"value": 22}])
    cluster = rest.get("/v3/clusters").json()["data"][0]["cluster_id"]
    path = f"/v3/clusters/{cluster}/topics/{topic}/records"
    assert rest.post(path, json={"value": {"type": "STRING", "data": "x"}}).json()["error_code"] == 200
    assert rest.post(path, json={"value": {"type": "BINARY", "data": "not base64!"}}).json()["error_code"] == 400
    rest.read_all(rest.subscribed(topic, format="binary"), 3, "binary")
    assert changes(rest, before, RECORDS) == {
        f'{RECORDS}{{direction="produce",format="json",outcome="acknowledged"}}': 2,
        f'{RECORDS}{{direction="produce",format="string",outcome="acknowledged"}}': 1,
        f'{RECORDS}{{direction="produce",format="none",outcome="refused"}}': 1,
        f'{RECORDS}{{direction="consume",format="binary",outcome="read"}}': 3,
    }
    assert changes(rest, before, BYTES)[f'{BYTES}{{direction="produce",format="json"}}'] == 3
    assert changes(rest, before, "magicbyte_rest_produce_ack_seconds_count") == {
        "magicbyte_rest_produce_ack_seconds_count": 2
    }


def test_records_that_do_not_decode_are_counted(rest: Rest, topic: str) -> None:
    rest.produce(topic, [{"value": "bm90IGpzb24="}], "binary")
    before = metrics(rest)
    instance = rest.subscribed(topic, format="json")
    accept = {"accept": "application/vnd.kafka.json.v2+json"}
    while rest.get(f"{instance}/records", headers=accept).json() == []:
        pass
    name = "magicbyte_rest_deserialization_errors_total"
    assert changes(rest, before, name, RECORDS) == {name: 1}


def test_an_outcome_that_the_client_does_not_know_is_counted(rest: Rest, topic: str) -> None:
    before = metrics(rest)
    body = {"records": [{"value": 1}]}
    # No broker answers within no time.
    answer = rest.post_v2(f"/topics/{topic}", body, "json", timeout=0)
    unknown = "Unknown" in answer.text
    grown = changes(rest, before, "magicbyte_rest_unknown_outcomes_total", RECORDS)
    outcome = "unknown" if unknown else "acknowledged"
    assert grown[f'{RECORDS}{{direction="produce",format="json",outcome="{outcome}"}}'] == 1
    assert grown.get("magicbyte_rest_unknown_outcomes_total", 0) == unknown


def test_topics_that_match_are_a_label(named: Rest) -> None:
    for topic in ("named-a", unique("other")):
        named.produce(topic, [{"value": 1}])
    now = metrics(named)
    assert {name for name in now if name.startswith(RECORDS)} == {
        f'{RECORDS}{{direction="produce",format="json",outcome="acknowledged",topic="{topic}"}}'
        for topic in ("named-a", "")
    }


def test_the_number_of_named_topics_is_bounded() -> None:
    counts = RecordCounts()
    counts.name_topics(".*")
    for number in range(1000):
        counts.tally(PRODUCE, "json", f"t{number}").add(ACKNOWLEDGED)
    (records,) = [family for family in counts.collect() if family.name == "magicbyte_rest_records"]
    assert len(records.samples) == 201


def test_a_pattern_of_topics_must_be_one() -> None:
    with pytest.raises(SettingsError, match=r"magicbyte.metrics.topics: .*no regular expression"):
        RestProxySettings.from_properties({"bootstrap.servers": "x:1", "magicbyte.metrics.topics": "("})


def test_instances_and_their_limit(rest: Any, topic: str) -> None:
    rest.subscribed(topic)
    now = metrics(rest)
    assert 1 <= now["magicbyte_rest_consumer_instances"] <= now["magicbyte_rest_consumer_instances_limit"]


@pytest.mark.slow
def test_ten_thousand_random_paths_make_few_series(kafka: str, registry_url: str) -> None:
    chance = random.Random(1)
    beginnings = ("", "v3/", "v3/clusters/", "brokers/", "consumers/", "topics/", "health/")
    with (
        running_rest_proxy(kafka, registry_url) as server,
        Rest(base_url=server.url, timeout=60) as client,
    ):
        for _ in range(10_000):
            # No topics: each would be asked for at the broker.
            path = f"/{chance.choice(beginnings)}{chance.getrandbits(64)}/{chance.getrandbits(64)}"
            client.request(chance.choice(("GET", "POST", "PUT", "DELETE", "BREW")), path)
        series = [line for line in client.get("/metrics").text.splitlines() if not line.startswith("#")]
    assert len(series) < 500
