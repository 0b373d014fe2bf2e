"""Replays of dead letters over HTTP with the rights of their sender."""

from __future__ import annotations

from typing import Any

import httpx
from confluent_kafka.admin import NewTopic

from magicbyte.dead_letters.kafka_clients import transactional_id
from magicbyte.testing.servers import running_rest_proxy
from serdes.client.clients import RegistryClient
from serdes.message import wire
from tests.rest.conftest import unique
from tests.rest.v3.test_dead_letters import NO_ID, places
from tests.security.rights.rule_servers import properties_in
from tests.serdes.letters.letter_topic import VALUE, LetterTopic
from tests.topics import create_topics

#: By user the rights beside READ on the letters and on their notes.
RIGHTS = {
    "all": (
        "WRITE TOPIC {source}",
        "WRITE TOPIC {state}",
        "WRITE TRANSACTIONAL_ID {id}",
        "READ SUBJECT {source}-value",
    ),
    "no-target": ("WRITE TOPIC {state}", "WRITE TRANSACTIONAL_ID {id}", "READ SUBJECT {source}-value"),
    "no-notes": ("WRITE TOPIC {source}", "WRITE TRANSACTIONAL_ID {id}"),
    "no-id": ("WRITE TOPIC {source}", "WRITE TOPIC {state}"),
    "no-schema": ("WRITE TOPIC {source}", "WRITE TOPIC {state}", "WRITE TRANSACTIONAL_ID {id}"),
}


def test_a_replay_has_the_rights_of_its_sender(kafka: str, registry_url: str, tmp_path: Any) -> None:
    desk = LetterTopic(kafka, RegistryClient(registry_url), unique("source"))
    schema_id = desk.register()
    good = wire.prefix(schema_id) + VALUE
    for offset, value in enumerate((good, good[:-1], wire.prefix(NO_ID) + VALUE)):
        desk.bury(value, offset, stage="TASK_PUT")
    state, number = f"{desk.letters}.state", transactional_id(desk.letters)
    names = {"source": desk.source, "state": state, "id": number}
    rules = [f"allow User:{user} READ TOPIC LITERAL {desk.letters}" for user in (*RIGHTS, "blind")]
    rules += [f"allow User:{user} READ TOPIC LITERAL {state}" for user in RIGHTS]
    for user, rights in RIGHTS.items():
        for right in rights:
            operation, kind, name = right.format(**names).split()
            rules.append(f"allow User:{user} {operation} {kind} LITERAL {name}")
    people = ("admin", *RIGHTS, "blind", "nobody")
    properties = properties_in(tmp_path, people=people, rules="\n".join(rules))
    with (
        running_rest_proxy(kafka, registry_url, properties=properties) as proxy,
        httpx.Client(base_url=proxy.url, timeout=60) as client,
    ):
        cluster = client.get("/v3/clusters", auth=("admin", "mbs_admin")).json()["data"][0]["cluster_id"]

        def ask(who: str, *offsets: int, **options: Any) -> tuple[int, Any]:
            path = f"/v3/clusters/{cluster}/topics/{desk.letters}/dead-letters:replay"
            answer = client.post(path, json={"letters": places(*offsets), **options}, auth=(who, f"mbs_{who}"))
            return answer.status_code, answer.json()

        for who, name in (("nobody", desk.letters), ("blind", state)):
            for dry in (True, False):
                status, error = ask(who, 0, validate_only=dry)
                assert (status, error["message"]) == (403, f"Not authorized to access topics: [{name}]")
        create = {"operation": "CREATE", "resource_type": "TOPIC", "resource_name": state}
        write = {"operation": "WRITE", "resource_type": "TOPIC", "resource_name": state}
        of_id = {"operation": "WRITE", "resource_type": "TRANSACTIONAL_ID", "resource_name": number}
        for who, missing in (("all", [create]), ("no-notes", [write, create]), ("no-id", [of_id, create])):
            assert ask(who, 0, validate_only=True)[1]["missing_rights"] == missing, who
            assert ask(who, 0)[0] == 403
        assert ask("no-id", 0)[1]["message"] == "Transactional Id authorization failed."
        create_topics(desk.admin, NewTopic(state, 1))
        assert ask("all", 0, validate_only=True)[1]["missing_rights"] == []
        (stays,) = ask("no-target", 0)[1]["letters"]
        detail = f"you may not write to topic {desk.source}: WRITE on it is missing"
        assert (stays["outcome"], stays["reason"], stays["detail"]) == ("stays", "no right to write", detail)
        # Who may not read a schema learns nothing of its fields, nor whether an id exists.
        for who, is_told in (("all", True), ("no-schema", False)):
            told = ask(who, 1, validate_only=True)[1]["letters"][0]["detail"]
            assert ("carrier" in told, told == "it does not decode; you may not read its schema") == (
                is_told, not is_told
            ), told  # fmt: skip
        hidden = [ask("no-schema", 2, schema_id=number)[1]["letters"][0] for number in (schema_id, NO_ID)]
        assert [(letter["reason"], letter["detail"]) for letter in hidden] == [
            ("not fixed", f"Schema {schema_id} not found"), ("not fixed", f"Schema {NO_ID} not found")
        ]  # fmt: skip
        assert desk.records() == []
        assert ask("all", 0)[1]["letters"][0]["outcome"] == "sent"
        assert len(desk.records()) == 1
