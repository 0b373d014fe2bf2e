"""Both APIs of the REST proxy: every operation with every kind of credentials, up to the handler."""

from __future__ import annotations

import asyncio

import pytest

from tests.security.matrix.credentials import Identities
from tests.security.matrix.in_process import InProcess
from tests.security.matrix.product import Server, everything, pairwise, run, unheard
from tests.security.matrix.proxy import an_app, ask_for_rights, forget_rights
from tests.security.matrix.test_rest_proxy import SERVER as V2
from tests.security.matrix.test_rest_v3 import SERVER as V3

#: The operations whose rights only the handler knows.
LEFT_TO_HANDLERS = {
    V2.name: {
        *("topics", "subscribe", "records", "commit", "committed"),
        *("seek", "seekToBeginning", "seekToEnd", "assign"),
    },
    V3.name: {
        *("listKafkaTopics", "listKafkaAllTopicConfigs", "searchKafkaReplicasByBroker", "listKafkaConsumerGroups"),
        *("createKafkaTopic", "updateKafkaTopicConfigMultiBatch", "alterKafkaConsumerGroupOffsets"),
        *("listKafkaConsumerAssignments", "listKafkaConsumerLags", "getKafkaConsumerGroupLagSummary"),
    },
}


@pytest.mark.parametrize(("server", "least"), [(V2, 5000), (V3, 8000)], ids=[V2.name, V3.name])
def test_pairs_of_operation_credentials_and_shape(
    runner: asyncio.Runner, proxy_identities: Identities, server: Server, least: int
) -> None:
    client = InProcess(an_app(proxy_identities, ask_for_rights), runner)
    counts = run(server, client, pairwise(server, proxy_identities.all))
    assert counts.total() > least
    assert set(counts) == {200, 400, 401, 403, 404, 405}


@pytest.mark.slow
@pytest.mark.parametrize(("server", "least"), [(V2, 60_000), (V3, 140_000)], ids=[V2.name, V3.name])
def test_every_operation_with_every_credentials_in_every_shape(
    runner: asyncio.Runner, proxy_identities: Identities, server: Server, least: int
) -> None:
    client = InProcess(an_app(proxy_identities, ask_for_rights), runner)
    counts = run(server, client, everything(server, proxy_identities.all))
    assert counts.total() > least


@pytest.mark.parametrize("server", [V2, V3], ids=[V2.name, V3.name])
def test_an_answer_without_an_access_decision_does_not_leave(
    runner: asyncio.Runner, proxy_identities: Identities, server: Server
) -> None:
    client = InProcess(an_app(proxy_identities, forget_rights), runner)
    assert unheard(server, client, proxy_identities.accepted) == LEFT_TO_HANDLERS[server.name]
