"""The rights to topics and subjects of records that are produced one by one, in a stream and in a batch."""

from __future__ import annotations

import uuid
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_registry, running_rest_proxy
from tests.rest.v3.records.duplex import Duplex
from tests.security.rights.rule_servers import properties_in
from tests.topics import create_topics

TOPIC = f"v3-produce-{uuid.uuid4()}"
RULES = f"""
allow User:owner WRITE TOPIC LITERAL {TOPIC}
allow User:owner WRITE SUBJECT LITERAL {TOPIC}-value
allow User:owner READ SUBJECT LITERAL {TOPIC}-value
allow User:reader WRITE TOPIC LITERAL {TOPIC}
allow User:reader READ SUBJECT LITERAL {TOPIC}-value
allow User:stranger WRITE TOPIC LITERAL {TOPIC}
"""
DENIED = f"User is denied operation {{}} on Subject: {TOPIC}-value"
BY_TEXT = {"value": {"type": "AVRO", "schema": '"string"', "data": "x"}}


class Guarded(NamedTuple):
    url: str
    rules: Path
    client: httpx.Client

    def produce(self, who: str, record: Any) -> Any:
        path = f"/v3/clusters/any/topics/{TOPIC}/records"
        return self.client.post(path, json=record, auth=(who, f"mbs_{who}")).json()


@pytest.fixture(scope="module")
def guarded(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("v3-produce-rights")
    properties = properties_in(folder, people=("owner", "reader", "stranger"), rules=RULES)
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, NewTopic(TOPIC, 1))
    with (
        running_registry() as registry,
        running_rest_proxy(kafka, registry.url, properties=properties) as proxy,
        httpx.Client(base_url=proxy.url, timeout=30) as client,
    ):
        yield Guarded(proxy.url, folder / "rules", client)


def test_rights_to_the_subjects_of_a_record(guarded: Guarded) -> None:
    assert guarded.produce("reader", BY_TEXT) == {"error_code": 40301, "message": DENIED.format("Write")}
    made = guarded.produce("owner", BY_TEXT)
    assert made["error_code"] == 200
    for named in ({"schema_id": made["value"]["schema_id"]}, {"schema_version": 1}, {}):
        record = {"value": {**named, "data": "y"}}
        assert guarded.produce("reader", record)["error_code"] == 200
        assert guarded.produce("stranger", record) == {"error_code": 40301, "message": DENIED.format("Read")}
    elsewhere = {"value": {**BY_TEXT["value"], "subject": "other"}}
    assert guarded.produce("owner", elsewhere)["error_code"] == 40301
    batch = {"entries": [{"id": "a", **BY_TEXT}, {"id": "b"}]}
    path = f"/v3/clusters/any/topics/{TOPIC}/records:batch"
    answer = guarded.client.post(path, json=batch, auth=("stranger", "mbs_stranger")).json()
    assert answer["failures"] == [{"id": "a", "error_code": 40301, "message": DENIED.format("Write")}]
    assert [success["id"] for success in answer["successes"]] == ["b"]
    refused = guarded.client.post(path.replace(TOPIC, "other"), json=batch, auth=("owner", "mbs_owner"))
    assert (refused.status_code, refused.json()["error_code"]) == (403, 40301)


def test_a_right_that_is_taken_away_ends_with_it_in_an_open_stream(guarded: Guarded) -> None:
    credentials = b64encode(b"stranger:mbs_stranger").decode()
    path = f"/v3/clusters/any/topics/{TOPIC}/records"
    stream = Duplex(guarded.url, path, Authorization=f"Basic {credentials}")
    reports = stream.reports()
    stream.head()
    stream.send({})
    assert next(reports)["error_code"] == 200
    guarded.rules.write_text(RULES.replace("allow User:stranger WRITE", "allow User:stranger READ"))
    report: Any = {"error_code": 200}
    while report["error_code"] == 200:
        stream.send({})
        report = next(reports)
    assert report == {"error_code": 40301, "message": f"Not authorized to access topics: [{TOPIC}]"}
    stream.end()
    assert list(reports) == []
    stream.socket.close()
