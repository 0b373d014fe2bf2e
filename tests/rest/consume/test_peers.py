"""A cluster of proxies: any node serves any instance, and a name is taken once in all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from magicbyte.platform.broker import free_port
from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.consume.consumers.peers import Peers

V2 = {"content-type": "application/vnd.kafka.v2+json"}
JSON = {"accept": "application/vnd.kafka.json.v2+json"}


@pytest.fixture(scope="module")
def nodes(kafka: str) -> Iterator[list[Any]]:
    ports = [free_port() for _ in range(3)]
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                running_rest_proxy(kafka, "", port=port, properties={"peers": ",".join(urls), "peers.self": url})
            )
            for port, url in zip(ports, urls, strict=True)
        ]


def test_any_node_serves_any_instance(nodes: list[Any], rest: Any, topic: str) -> None:
    rest.produce(topic, [{"value": index} for index in range(3)])
    urls = [node.url for node in nodes]
    group = rest.unique("group")
    names = [f"instance-{index}" for index in range(6)]
    owners = {Peers(urls, urls[0]).owner(group, name) for name in names}
    assert len(owners) > 1
    for index, name in enumerate(names):
        config = {"name": name, "format": "json", "auto.offset.reset": "earliest"}
        made = httpx.post(f"{urls[index % 3]}/consumers/{group}", json=config, headers=V2)
        # The URL is of the node that was asked: any will do.
        base_uri = f"{urls[index % 3]}/consumers/{group}/instances/{name}"
        assert made.json() == {"instance_id": name, "base_uri": base_uri}
    for index, name in enumerate(names):
        again = httpx.post(f"{urls[(index + 1) % 3]}/consumers/{group}", json={"name": name}, headers=V2)
        assert again.json()["error_code"] == 40902
        path = f"/consumers/{group}/instances/{name}"
        for url in urls:
            assert httpx.get(f"{url}{path}/subscription").json() == {"topics": []}
    path = f"/consumers/{group}/instances/{names[0]}"
    assert httpx.post(f"{urls[1]}{path}/subscription", json={"topics": [topic]}, headers=V2).status_code == 204
    read = httpx.get(f"{urls[2]}{path}/records?timeout=5000", headers=JSON, timeout=30)
    assert [record["value"] for record in read.json()] == [0, 1, 2]
    assert read.headers["content-type"] == JSON["accept"]
    for name in names:
        assert httpx.delete(f"{urls[0]}/consumers/{group}/instances/{name}", timeout=30).status_code == 204
        assert httpx.delete(f"{urls[1]}/consumers/{group}/instances/{name}").json()["error_code"] == 40403


def test_an_instance_without_a_name_lives_where_it_was_made(nodes: list[Any], rest: Any) -> None:
    urls = [node.url for node in nodes]
    group = rest.unique("group")
    for url in urls:
        name = httpx.post(f"{url}/consumers/{group}", headers=V2).json()["instance_id"]
        assert Peers(urls, url).owns(group, name)


def test_a_request_is_passed_on_once(nodes: list[Any], rest: Any) -> None:
    urls = [node.url for node in nodes]
    group = rest.unique("group")
    name = next(f"i{index}" for index in range(100) if Peers(urls, urls[0]).owner(group, f"i{index}") == urls[1])
    httpx.post(f"{urls[0]}/consumers/{group}", json={"name": name}, headers=V2)
    path = f"{urls[0]}/consumers/{group}/instances/{name}/subscription"
    assert httpx.get(path).status_code == 200
    for forged in ("another", urls[1]):
        header = {"x-magicbyte-forwarded": forged}
        misled = httpx.get(path, headers=header)
        assert (misled.status_code, misled.json()) == (
            503,
            {
                "error_code": 503,
                "message": "This consumer instance was looked for on the wrong node; by this one's settings it is on "
                f"{urls[1]}. All nodes must have the same peers.",
            },
        )
        # Nor can the name be taken a second time on a node that is not its own.
        made = httpx.post(f"{urls[0]}/consumers/{group}", json={"name": name}, headers=V2 | header)
        assert made.json() == misled.json()
        assert httpx.get(path.replace(urls[0], urls[1]), headers=header).json() == {"topics": []}


@pytest.mark.parametrize(
    ("name", "encoded"), [("a b-%d", "a%%20b-%d"), ("a/b-%d", "a%%2Fb-%d"), ("ä-%d", "%%C3%%A4-%d")]
)
def test_an_encoded_name_is_passed_on_as_it_came(nodes: list[Any], rest: Any, name: str, encoded: str) -> None:
    urls = [node.url for node in nodes]
    group = rest.unique("group")
    index = next(index for index in range(100) if Peers(urls, urls[0]).owner(group, name % index) == urls[1])
    made = httpx.post(f"{urls[0]}/consumers/{group}", json={"name": name % index}, headers=V2)
    assert made.json()["instance_id"] == name % index
    path = f"/consumers/{group}/instances/{encoded % index}/subscription"
    with httpx.Client() as client:
        url = httpx.URL(urls[0]).copy_with(raw_path=path.encode())
        assert client.get(url).json() == {"topics": []}


def test_an_owner_that_is_down_is_named(nodes: list[Any], rest: Any) -> None:
    urls = [node.url for node in nodes]
    group = rest.unique("group")
    name = next(f"i{index}" for index in range(100) if Peers(urls, urls[0]).owner(group, f"i{index}") == urls[2])
    nodes[2].kill()
    answer = httpx.get(f"{urls[0]}/consumers/{group}/instances/{name}/subscription")
    assert (answer.status_code, answer.json()) == (
        503,
        {
            "error_code": 503,
            "message": f"The node that holds this consumer instance, {urls[2]}, cannot be reached.",
        },
    )


def test_most_instances_stay_where_they_were_when_a_node_goes() -> None:
    urls = [f"http://node{index}:8082" for index in range(4)]
    names = [f"i{index}" for index in range(400)]
    before = {name: Peers(urls, urls[0]).owner("g", name) for name in names}
    after = {name: Peers(urls[:3], urls[0]).owner("g", name) for name in names}
    assert all(after[name] == before[name] for name in names if before[name] != urls[3])
    assert all(60 < list(before.values()).count(url) < 140 for url in urls)
