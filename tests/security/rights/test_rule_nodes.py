"""Access rules in the registry's log: the same on all nodes and in the REST proxy, and whole at every moment."""

from __future__ import annotations

import base64
import os
import signal
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from magicbyte.platform.server_process import ServerFailed
from magicbyte.testing import running_registry, running_rest_proxy
from tests.security.rights.rule_servers import ACLS, FIRST_RULES, V2, Client, properties_in, wait_for

#: Each test starts nodes of its own.
pytestmark = pytest.mark.slow


def test_no_acknowledged_rule_is_lost_when_the_process_is_killed(tmp_path: Path):
    with running_registry(f"sqlite:///{tmp_path}/log.db", properties=properties_in(tmp_path)) as server:
        client = Client(server)
        acknowledged: list[str] = []

        def add() -> None:
            for number in range(10_000):
                line = f"allow User:team READ SUBJECT LITERAL s{number}"
                try:
                    if client.change("POST", line, "deny User:team WRITE SUBJECT LITERAL *").status_code != 201:
                        return
                except httpx.HTTPError:
                    return
                acknowledged.append(line)

        adding = threading.Thread(target=add)
        adding.start()
        wait_for(lambda: len(acknowledged) >= 30)
        os.kill(server.pid or 0, signal.SIGKILL)
        adding.join()
        client.close()
        server.start()
        client = Client(server)
        there = {item["resource"] for item in client("admin", "GET", f"{ACLS}?permission=ALLOW").json()}
        assert there >= {f"s{number}" for number in range(len(acknowledged))}
        assert client("team", "GET", "/subjects/s0/versions").json()["error_code"] == 40401
        assert client("team", "GET", "/subjects/t/versions").json()["error_code"] == 40301
        client.close()


@pytest.fixture(scope="module")
def pair(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Client]]:
    topic = f"_schemas-{uuid.uuid4()}"
    shared = {
        **properties_in(tmp_path_factory.mktemp("pair")),
        "kafkastore.topic": topic,
        "schema.registry.group.id": f"group-{uuid.uuid4()}",
        "magicbyte.inter.instance.secret": "s" * 32,
    }
    with ExitStack() as stack:
        nodes = [
            Client(stack.enter_context(running_registry("kafka:", bootstrap_servers=kafka, properties=shared)))
            for _ in range(2)
        ]
        for node in nodes:
            stack.callback(node.close)
        yield nodes


def test_a_rule_that_is_made_on_one_node_decides_on_the_other(pair: list[Client]):
    for index, node in enumerate(pair):
        other = pair[1 - index]
        line = f"allow User:team WRITE,READ SUBJECT PREFIXED of-{index}."
        assert node.change("POST", line).status_code == 201
        wait_for(lambda: other.register("team", f"of-{index}.s").status_code == 200)  # noqa: B023
        assert other.register("team", "of-none").status_code == 403
        wait_for(lambda: node("team", "GET", f"/subjects/of-{index}.s/versions").json() == [1])  # noqa: B023
        assert node.change("DELETE", line).status_code == 200
        wait_for(lambda: other("team", "GET", f"/subjects/of-{index}.s/versions").status_code == 403)  # noqa: B023
    first, second = pair
    # A follower lists what it has read, which may be a moment old.
    wait_for(lambda: first("admin", "GET", ACLS).headers["etag"] == second("admin", "GET", ACLS).headers["etag"])
    assert first("admin", "GET", ACLS).json() == second("admin", "GET", ACLS).json()


def test_the_rights_of_the_sender_decide_on_a_forwarded_change(pair: list[Client]):
    wait_for(lambda: all(node("keeper", "POST", ACLS, []).status_code == 403 for node in pair))
    assert pair[0].change("POST", "allow User:keeper ALTER REGISTRY LITERAL *").status_code == 201
    for node in pair:
        wait_for(lambda: node("keeper", "POST", ACLS, []).status_code == 201)  # noqa: B023
        given = node.change("POST", "allow User:keeper READ SUBJECT LITERAL x", who="keeper")
        assert given.json() == {"error_code": 40301, "message": "User is denied operation Read on Subject: x"}


def test_each_node_decodes_with_the_schemas_that_the_sender_may_read(pair: list[Client]):
    assert pair[0].change("POST", "allow User:team READ SUBJECT LITERAL open-value").status_code == 201
    record = '{"type":"record","name":"R","fields":[{"name":"f","type":"string"}]}'
    ids = {}
    for subject, schema in (("open-value", '"string"'), ("sealed-value", record)):
        registered = pair[0]("admin", "POST", f"/subjects/{subject}/versions", {"schema": schema})
        ids[subject] = registered.json()["id"]
    data = [base64.b64encode(b"\0" + ids[subject].to_bytes(4) + b"\2a").decode() for subject in ids]
    leads = [node("admin", "GET", "/health/ready").json()["leader"] for node in pair]
    assert sorted(leads) == [False, True]
    for node in pair:
        wait_for(lambda: node("team", "GET", "/subjects/open-value/versions").status_code == 200)  # noqa: B023
        for who, values in (("admin", ["a", {"f": "a"}]), ("team", ["a", None]), ("nobody", [None, None])):
            for _ in range(2):  # the same worker has decoded for somebody else
                answer = node(who, "POST", "/ui/decode", {"data": data})
                assert answer.status_code == 200, answer.text
                decoded = answer.json()["data"]
                assert [item.get("value") for item in decoded] == values
                assert [item.get("reason") for item in decoded] == [
                    "unknown" if value is None else None for value in values
                ]


SETS = [[f"{name}-{number:02}" for number in range(20)] for name in ("a", "b")]


def rules_of(subjects: list[str], filling: int) -> list[str]:
    """Rules by which `team` reads these subjects and one more, with others in between that match nothing."""
    other = next(names for names in SETS if names is not subjects)
    return [
        *(f"allow User:team READ SUBJECT LITERAL {subject}" for subject in subjects),
        *(f"allow User:team READ SUBJECT LITERAL {name}-{number}" for name in subjects for number in range(filling)),
        "allow User:team READ SUBJECT PREFIXED both-",
        f"deny User:team READ SUBJECT LITERAL both-{other[0][0]}",
    ]


# Large sets take longer to apply than a thread may run at a stretch.
@pytest.mark.parametrize(("count", "filling"), [(25, 50), (250, 0)])
def test_no_request_is_decided_by_half_a_set_of_rules(pair: list[Client], count: int, filling: int):
    everything = [*SETS[0], *SETS[1], "both-a", "both-b"]
    for subject in everything:
        assert pair[0].register("admin", subject).status_code == 200
    schema_id = pair[0]("admin", "GET", "/subjects/both-a/versions/1").json()["id"]
    right = [sorted([*subjects, f"both-{subjects[0][0]}"]) for subjects in SETS]
    assert pair[0].change("PUT", *rules_of(SETS[0], filling)).status_code == 200
    for node in pair:
        wait_for(lambda: node("team", "GET", f"/schemas/ids/{schema_id}/subjects").json() == right[0])  # noqa: B023
    is_over = threading.Event()
    seen: list[set[int]] = [set() for _ in range(8)]
    wrong: list[object] = []

    def read(index: int) -> None:
        client = Client(pair[index % 2].server)
        path = f"/schemas/ids/{schema_id}/subjects" if index < 4 else f"/schemas/ids/{schema_id}/versions"
        while not is_over.is_set() and not wrong:
            answer = client("team", "GET", path)
            names = [item if isinstance(item, str) else item["subject"] for item in answer.json()]
            if names in right:
                seen[index].add(right.index(names))
            else:
                wrong.append((answer.status_code, answer.text))
        client.close()

    readers = [threading.Thread(target=read, args=(index,)) for index in range(8)]
    for reader in readers:
        reader.start()
    try:
        for number in range(count):
            answer = pair[number // 2 % 2].change("PUT", *rules_of(SETS[(number + 1) % 2], filling))
            assert (answer.status_code, len(answer.json()["added"])) == (200, 20 * (1 + filling) + 1)
            assert not wrong
    finally:
        is_over.set()
        for reader in readers:
            reader.join()
    assert wrong == []
    assert all(sets == {0, 1} for sets in seen)


def proxy_properties(folder: Path, **more: str) -> dict[str, str]:
    return {
        **properties_in(folder, **{"super.users": "", "magicbyte.acl.store": "log"}),
        "schema.registry.basic.auth.user.info": "lister:mbs_lister",
        **more,
    }


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running_registry(properties=properties_in(tmp_path_factory.mktemp("registry"))) as server:
        client = Client(server)
        assert client.change("POST", *FIRST_RULES).status_code == 201
        yield client
        client.close()


def test_the_rest_proxy_keeps_to_the_rules_of_the_registry(registry: Client, tmp_path: Path):
    # No broker is there, so what is allowed fails later.
    path, producing = "/topics/team", "allow User:team WRITE TOPIC LITERAL team"
    with running_rest_proxy("127.0.0.1:1", registry.server.url, properties=proxy_properties(tmp_path)) as proxy:
        client = Client(proxy)

        def status() -> int:
            return client("team", "POST", path, {"records": "none"}, **{"content-type": V2}).status_code

        assert status() == 403
        for _ in range(2):
            assert registry.change("POST", producing).status_code == 201
            wait_for(lambda: status() == 400)
            assert registry.change("DELETE", producing).status_code == 200
            wait_for(lambda: status() == 403)
        client.close()


def test_the_rest_proxy_goes_on_with_the_last_rules_while_the_registry_is_away(tmp_path: Path):
    with running_registry(f"sqlite:///{tmp_path}/log.db", properties=properties_in(tmp_path)) as registry:
        keeper = Client(registry)
        keeper.change("POST", *FIRST_RULES, "allow User:team WRITE TOPIC LITERAL team")
        keeper.close()
        with running_rest_proxy("127.0.0.1:1", registry.url, properties=proxy_properties(tmp_path)) as proxy:
            client = Client(proxy)

            def status(who: str) -> int:
                return client(who, "POST", "/topics/team", {"records": "none"}, **{"content-type": V2}).status_code

            registry.stop()
            wait_for(
                lambda: (
                    "the access rules cannot be reloaded, so those loaded last stay in force" in proxy.log.read_text()
                )
            )
            assert (status("team"), status("nobody")) == (400, 403)
            registry.start()
            keeper = Client(registry)
            keeper.change("DELETE", "allow User:team WRITE TOPIC LITERAL team")
            keeper.close()
            wait_for(lambda: status("team") == 403)
            client.close()


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (
            {"schema.registry.basic.auth.user.info": "nobody:mbs_nobody"},
            "User is denied operation Describe on Registry",
        ),
        ({"schema.registry.basic.auth.user.info": "lister:mbs_planted"}, "Unauthorized"),
    ],
)
def test_the_rest_proxy_does_not_start_without_the_rules(
    registry: Client, tmp_path: Path, more: dict[str, str], text: str
):
    properties = proxy_properties(tmp_path, **more)
    with (
        pytest.raises(ServerFailed) as raised,
        running_rest_proxy("127.0.0.1:1", registry.server.url, properties=properties),
    ):
        pass
    log = "".join(raised.value.last_lines)
    assert f"magicbyte.acl.store: the rules cannot be read from the log of {registry.server.url}: {text}" in log
    assert "Traceback" not in log
    assert "planted" not in log
