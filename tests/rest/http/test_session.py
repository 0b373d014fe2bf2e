"""The oldest session that anybody has with a REST proxy, to the letter."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from magicbyte.testing.servers import running_registry, running_rest_proxy

BODY = (
    r'{"value_schema": "{\"type\": \"record\", \"name\": \"User\", \"fields\": '
    r'[{\"name\": \"username\", \"type\": \"string\"}]}", '
    r'"records": [{"value": {"username": "testUser"}}, {"value": {"username": "testUser2"}}]}'
)


@pytest.fixture
def fresh_proxy(kafka: str) -> Iterator[str]:
    with running_registry() as registry, running_rest_proxy(kafka, registry.url) as proxy:
        yield proxy.url


def test_the_server_answers_the_curl_session_to_the_letter(fresh_proxy: str):
    curl = ["curl", "-si", "-X", "POST", "-H", "Content-Type: application/vnd.kafka.avro.v1+json", "--data", BODY]
    answer = subprocess.run([*curl, f"{fresh_proxy}/topics/avrotest"], check=True, capture_output=True).stdout
    head, body = answer.split(b"\r\n\r\n", 1)
    status, *headers = head.split(b"\r\n")
    assert status == b"HTTP/1.1 200 OK"
    assert b"content-type: application/vnd.kafka.v1+json" in headers
    assert body == (
        b'{"key_schema_id":null,"value_schema_id":1,"offsets":['
        b'{"partition":0,"offset":0,"error_code":null,"error":null},'
        b'{"partition":0,"offset":1,"error_code":null,"error":null}]}'
    )
