"""The table of v3's routes."""

from __future__ import annotations

from magicbyte.http.routing.access import SIGNED_IN
from magicbyte.http.routing.rows import Row
from rest_proxy.http.negotiation import unnegotiated
from rest_proxy.v3.contract import contract
from rest_proxy.v3.resources import brokers, clusters
from rest_proxy.v3.route import route

_C = "/clusters/{cluster}"

V3_ROWS = (
    Row("GET", "/v3/openapi.json", "v3Contract", SIGNED_IN, contract, unnegotiated),
    route("GET", "/clusters", "listKafkaClusters", "clusters.list", clusters.list_all),
    route("GET", _C, "getKafkaCluster", "clusters.get", clusters.get, unknown_cluster="HTTP 404 Not Found"),
    route("GET", f"{_C}/brokers", "listKafkaBrokers", "brokers.list", brokers.list_all),
    route("GET", f"{_C}/brokers/{{broker}}", "getKafkaBroker", "brokers.get", brokers.get),
)
