"""Spark and a registry that asks for credentials: on the driver and in workers, and no plan or error shows a secret."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.cloudpickle import dumps
from pyspark.sql import Row, SparkSession

from compat.schema import SchemaText
from serdes.client.clients import RegistryClient
from serdes.client.config import client_options
from spark_avro import from_confluent_avro, to_confluent_avro
from spark_avro.errors import PlanError
from spark_avro.streams.followers import Follower
from spark_avro.workers.udf import worker_settings
from tests.clients.secured_registry import SecuredRegistry

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
LATER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"n","type":"int","default":0}]}'


@pytest.fixture
def client(secured: SecuredRegistry) -> Iterator[RegistryClient]:
    with RegistryClient(**client_options(secured.admin["basic"])) as made:
        yield made


@pytest.fixture
def settings(secured: SecuredRegistry) -> dict[str, str]:
    """Those of the user `app`, with a placeholder for the password."""
    secrets = secured.files.ca.with_name("secrets.properties")
    return {
        "schema.registry.url": secured.url,
        "schema.registry.ssl.truststore.location": str(secured.files.ca),
        "basic.auth.user.info": f"app:${{file:{secrets}:app}}",
    }


def message(schema_id: int, *longs: int) -> bytearray:
    return bytearray(b"\x00" + schema_id.to_bytes(4, "big") + bytes(2 * number for number in longs))


def test_driver_and_workers_sign_in(
    spark: SparkSession, secured: SecuredRegistry, client: RegistryClient, settings: dict[str, str]
):
    subject = f"app.{uuid.uuid4()}"
    first = client.register(subject, SchemaText("AVRO", ORDER)).id
    column = from_confluent_avro("value", registry=settings, subject=subject, ask_registry=True)
    later = client.register(subject, SchemaText("AVRO", LATER)).id
    assert first is not None
    assert later is not None
    frame = spark.createDataFrame([(message(first, 7),), (message(later, 8, 1),)], "value binary").coalesce(1)
    decoded = frame.select(column.alias("v"))
    assert [row.v for row in decoded.collect()] == [Row(id=7), Row(id=8)]
    plans = decoded._jdf.queryExecution().toString()  # type: ignore[operator]
    executed = decoded._jdf.queryExecution().executedPlan().toJSON()  # type: ignore[operator]
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            plans += path.read_bytes().decode(errors="replace")
        except OSError:
            continue
    assert not any(secret in plans + executed for secret in secured.secrets)
    back = spark.createDataFrame([(Row(id=9),)], "v struct<id:bigint>")
    encoded = to_confluent_avro("v", registry=settings, subject=subject, schema=ORDER)
    assert [bytes(row.m) for row in back.select(encoded.alias("m")).collect()] == [bytes(message(first, 9))]


def test_a_worker_without_the_secret_says_which_it_misses(
    spark: SparkSession, client: RegistryClient, settings: dict[str, str], tmp_path: Path
):
    subject, secrets = f"app.{uuid.uuid4()}", tmp_path / "secrets.properties"
    client.register(subject, SchemaText("AVRO", ORDER))
    secrets.write_text(
        Path(settings["schema.registry.ssl.truststore.location"]).with_name("secrets.properties").read_text()
    )
    given = {**settings, "basic.auth.user.info": f"app:${{file:{secrets}:app}}"}
    column = from_confluent_avro("value", registry=given, subject=subject, ask_registry=True, mode="PERMISSIVE")
    secrets.unlink()
    frame = spark.createDataFrame([(message(99999, 1),)], "value binary")
    [row] = frame.select(column.alias("v")).collect()
    assert row.v.error.reason == (
        f"unknown schema id: 99999 (0x0001869F): basic.auth.user.info: ${{file:{secrets}:app}} cannot be resolved:"
        " No such file or directory"
    )


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"basic.auth.user.info": "app:planted"}, "basic.auth.user.info"),
        ({"basic.auth.user.info": "app:${env:NOWHERE:-planted}"}, "basic.auth.user.info"),
        ({"basic.auth.user.info": None, "bearer.auth.token": "planted"}, "bearer.auth.token"),
        ({"ssl.key.password": "planted"}, "ssl.key.password"),
        ({"schema.registry.url": "https://app:planted@127.0.0.1"}, "url"),
    ],
)
def test_a_secret_that_a_plan_would_hold_is_refused(settings: dict[str, str], changes: dict[str, Any], name: str):
    given = {name: value for name, value in {**settings, **changes}.items() if value is not None}
    with pytest.raises(PlanError) as refused:
        worker_settings(given)
    assert str(refused.value) == (
        f"ask_registry: {name} has a secret, which the query's plan would hold; give ${{file:/path:key}} or"
        " ${env:NAME}, which workers resolve"
    )
    assert "planted" not in repr(Follower(given))


def test_a_client_with_credentials_is_not_sent_to_workers(client: RegistryClient, settings: dict[str, str]):
    with pytest.raises(PlanError, match=r"^ask_registry: workers need the registry's settings, not a client"):
        worker_settings(client)
    with RegistryClient("http://a,http://b/") as open_client:
        assert worker_settings(open_client) == (("url", "http://a,http://b"),)
    with RegistryClient(**client_options({"url": "http://a"})) as open_client:
        assert worker_settings(open_client) == (("url", "http://a"),)
    with RegistryClient("http://a", headers={"authorization": "planted"}) as signed_in, pytest.raises(PlanError):
        worker_settings(signed_in)
    sent = dumps(worker_settings(settings))
    assert b"secrets.properties:app" in sent
