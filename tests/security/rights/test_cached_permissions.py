"""The REST proxy keeps permissions that it has given; a change of the rules ends them with its next request."""

from __future__ import annotations

import os
import signal
import uuid
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_registry, running_rest_proxy
from tests.security.rights.rule_servers import V2, Client, properties_in, wait_for
from tests.topics import create_topics

TOPIC, GROUP = f"cached-{uuid.uuid4()}", f"cached-{uuid.uuid4()}"
ALLOWED = (
    f"allow User:team READ TOPIC LITERAL {TOPIC}",
    f"allow User:team WRITE TOPIC LITERAL {TOPIC}",
    f"allow User:team READ GROUP LITERAL {GROUP}",
)
DENIED = (f"deny User:team ALL TOPIC LITERAL {TOPIC}", f"deny User:team ALL GROUP LITERAL {GROUP}")
#: With no rule at all a file is refused, so that a truncated one changes nothing.
OTHER = "allow User:nobody READ TOPIC LITERAL other"
RECORDS = {"records": [{"value": b64encode(b"x").decode()}]}
V3 = f"/v3/clusters/{{cluster}}/topics/{TOPIC}"
#: Method, path and body of requests that the team may make, of v2 and of v3.
REQUESTS: tuple[tuple[str, str, Any], ...] = (
    ("GET", f"/topics/{TOPIC}", None),
    ("POST", f"/topics/{TOPIC}", RECORDS),
    ("POST", f"/topics/{TOPIC}/partitions/0", RECORDS),
    ("GET", V3, None),
    ("GET", f"{V3}/partitions/0/records", None),
    ("POST", f"{V3}/records", {}),
    ("POST", f"{V3}/records:batch", {"entries": [{"id": "a"}]}),
    ("GET", f"/v3/clusters/{{cluster}}/consumer-groups/{GROUP}", None),
)


class Proxy:
    """A proxy whose rules can be changed, and whose cluster is known."""

    def __init__(self, client: Client, change: Callable[..., None]) -> None:
        self._client, self._change = client, change
        self.cluster = client("admin", "GET", "/v3/clusters").json()["data"][0]["cluster_id"]

    def statuses(self) -> list[int]:
        """The answer to each request, without a second try."""
        return [self._ask(*request) for request in REQUESTS]

    def _ask(self, method: str, path: str, body: Any) -> int:
        media_type = "application/json" if path.startswith("/v3") else V2
        answer = self._client("team", method, path.format(cluster=self.cluster), body, **{"content-type": media_type})
        assert answer.status_code != 403 or answer.json()["error_code"] == 40301
        return answer.status_code

    def use(self, *lines: str) -> None:
        """Put rules in force, and wait until the proxy counts that they are."""
        before = self._reloads()
        self._change(*lines)
        wait_for(lambda: self._reloads() > before)

    def _reloads(self) -> int:
        counted = 'magicbyte_security_reloads_total{outcome="success",what="rules"} '
        lines = self._client("admin", "GET", "/metrics").text.splitlines()
        return next((int(float(line.removeprefix(counted))) for line in lines if line.startswith(counted)), 0)


@pytest.fixture(scope="module", params=["file", "log"])
def proxy(request: pytest.FixtureRequest, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A proxy with its rules in a file, and one with those of a registry's log."""
    folder = tmp_path_factory.mktemp("cached")
    admin = AdminClient({"bootstrap.servers": kafka})
    if TOPIC not in admin.list_topics(timeout=30).topics:
        create_topics(admin, NewTopic(TOPIC, 1))
    with ExitStack() as stack:
        registry = stack.enter_context(running_registry(properties=properties_in(folder)))
        rules = Client(registry)
        stack.callback(rules.close)
        in_force = "\n".join(ALLOWED)
        if request.param == "file":
            properties = properties_in(folder, rules=in_force)
        else:
            assert rules.change("PUT", *ALLOWED).status_code < 300
            store = {"magicbyte.acl.store": "log", "schema.registry.basic.auth.user.info": "admin:mbs_admin"}
            properties = properties_in(folder, **store)
        server = stack.enter_context(running_rest_proxy(kafka, registry.url, properties=properties))

        def change_file(*lines: str) -> None:
            (folder / "rules").write_text("\n".join(lines))
            os.kill(server.pid or 0, signal.SIGHUP)

        def change_log(*lines: str) -> None:
            assert rules.change("PUT", *lines).status_code < 300

        client = Client(server)
        stack.callback(client.close)
        proxy = Proxy(client, change_file if request.param == "file" else change_log)
        body = {"data": [{"topic_name": TOPIC, "to": "latest"}]}
        path = f"/v3/clusters/{proxy.cluster}/consumer-groups/{GROUP}/offsets:alter"
        assert client("admin", "POST", path, body).status_code == 200
        yield proxy


ALL_ALLOWED = [200, 200, 200, 200, 200, 200, 207, 200]


@pytest.mark.parametrize("after", [(OTHER,), (*ALLOWED, *DENIED)], ids=["taken away", "denied"])
def test_a_change_of_the_rules_ends_permissions_at_once(proxy: Proxy, after: tuple[str, ...]) -> None:
    for _ in range(2):
        assert proxy.statuses() == ALL_ALLOWED, "the second time by what was kept of the first"
    proxy.use(*after)
    assert proxy.statuses() == [403] * len(REQUESTS)
    proxy.use(*ALLOWED)
    assert proxy.statuses() == ALL_ALLOWED
