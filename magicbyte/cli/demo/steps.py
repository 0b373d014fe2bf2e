"""The steps of the demo: their requests to the servers, and their rates."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import orjson

from magicbyte.cli.demo import flights
from magicbyte.kit.failure import Failure

if TYPE_CHECKING:
    from tqdm import tqdm

REGISTRY_TYPE = "application/vnd.schemaregistry.v1+json"
AVRO_TYPE = "application/vnd.kafka.avro.v2+json"
V2_TYPE = "application/vnd.kafka.v2+json"

#: Records per request.
_BATCH = 1000


@dataclass(slots=True)
class Rates:
    """The flights and seconds of each step, for the table at the end."""

    rows: list[tuple[str, int, float]] = field(default_factory=list)

    def add(self, step: str, count: int, started: float) -> None:
        """Add a step; `started` is a time of `time.perf_counter`."""
        self.rows.append((step, count, time.perf_counter() - started))


class Session:
    """The platform's HTTP APIs and broker, as the demo's client sees them."""

    def __init__(self, registry: str, proxy: str, bootstrap_servers: str) -> None:
        self.registry = registry
        self.proxy = proxy
        self.bootstrap_servers = bootstrap_servers
        self.rates = Rates()
        self._http = httpx.Client(timeout=60, trust_env=False)

    def register(self, schema: str) -> int:
        """Register a version of the flight schema and return its id."""
        response = self._post(f"{self.registry}/subjects/{flights.SUBJECT}/versions", {"schema": schema}, REGISTRY_TYPE)
        return int(_checked(response)["id"])

    def refusal(self, schema: str) -> str:
        """Try to register an incompatible schema and return the registry's reason for refusing it."""
        response = self._post(f"{self.registry}/subjects/{flights.SUBJECT}/versions", {"schema": schema}, REGISTRY_TYPE)
        if response.status_code != 409:
            raise Failure(f"an incompatible schema was answered with {response.status_code}: {response.text}")
        return str(response.json()["message"])

    def produce(self, step: str, rows: Iterable[dict[str, Any]], schema_id: int, total: int) -> int:
        """Produce flights in Avro's JSON encoding through the REST proxy and return their number.

        Raises:
            Failure: The proxy refused a request or a record.
        """
        started, count = time.perf_counter(), 0
        with _progress_bar(step, total) as bar:
            for batch in _batches(rows):
                body = {"value_schema_id": schema_id, "records": [{"value": row} for row in batch]}
                produced = _checked(self._post(f"{self.proxy}/topics/{flights.TOPIC}", body, AVRO_TYPE))
                refused = [offset for offset in produced["offsets"] if offset["error_code"] is not None]
                if refused:
                    raise Failure(f"{len(refused)} flights were refused, the first because {refused[0]['error']}")
                count += len(batch)
                bar.update(len(batch))
        self.rates.add(step, count, started)
        return count

    def consume(self, step: str, expected: int) -> flights.Totals:
        """Read all expected flights from the topic through a consumer group of the REST proxy."""
        started, counted = time.perf_counter(), flights.Totals({})
        settings = {"format": "avro", "auto.offset.reset": "earliest"}
        group = f"{self.proxy}/consumers/demo-{uuid.uuid4()}"
        instance = _checked(self._post(group, settings, V2_TYPE))["base_uri"]
        try:
            subscribed = self._post(f"{instance}/subscription", {"topics": [flights.TOPIC]}, V2_TYPE)
            subscribed.raise_for_status()
            with _progress_bar(step, expected) as bar:
                for records in self._read(instance, expected):
                    for record in records:
                        value = record["value"]
                        delay = value["dep_delay"]
                        counted.add(value["carrier"], None if delay is None else delay["int"])
                    bar.update(len(records))
            self._http.post(f"{instance}/offsets", headers={"Content-Type": V2_TYPE}).raise_for_status()
        finally:
            self._http.delete(instance, headers={"Content-Type": V2_TYPE})
        self.rates.add(step, counted.flights, started)
        return counted

    def _read(self, instance: str, expected: int) -> Iterator[list[dict[str, Any]]]:
        read, deadline = 0, time.monotonic() + 60
        while read < expected:
            records = _checked(self._http.get(f"{instance}/records?max_bytes=4000000", headers={"Accept": AVRO_TYPE}))
            if records:
                deadline = time.monotonic() + 60
            elif time.monotonic() > deadline:
                raise Failure(f"only {read} of {expected} flights came back through the REST proxy")
            read += len(records)
            yield records

    def _post(self, url: str, body: Any, media_type: str) -> httpx.Response:
        return self._http.post(url, content=orjson.dumps(body), headers={"Content-Type": media_type})

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, _BATCH)):
        yield batch


def _progress_bar(step: str, total: int) -> tqdm[Any]:
    from tqdm import tqdm  # noqa: PLC0415 - in an extra, which --help does not need

    return tqdm(total=total, desc=step, unit=" flights", mininterval=0.5)


def _checked(response: httpx.Response) -> Any:
    if response.status_code != 200:
        raise Failure(
            f"{response.request.method} {response.request.url} was answered {response.status_code}: "
            f"{response.text[:500]}"
        )
    return orjson.loads(response.content)


def aggregate_with_spark(demo: Session, folder: Path) -> tuple[flights.Totals, int]:
    """Carry the topic into Parquet with the pipeline of `flights.yaml`, and aggregate the flights by carrier.

    Returns:
        The totals, and how many of the flights have the second version of the schema.
    """
    from pyspark.sql import functions as F  # noqa: N812, PLC0415  the usual name; slow to import

    from spark_avro import pipeline, session  # noqa: PLC0415  as above

    spark = session(
        "flights", master="local[2]", settings={"spark.sql.shuffle.partitions": "2", "spark.log.level": "ERROR"}
    )
    try:
        started = time.perf_counter()
        overrides = (
            f"kafka.bootstrap.servers={demo.bootstrap_servers}",
            f"registry.url={demo.registry}",
            f"checkpoint={folder / 'checkpoint'}",
            f"source.topics=[{flights.TOPIC}]",
            f"sink.files.path={folder / 'flights'}",
        )
        pipeline(Path(__file__).with_name("flights.yaml"), overrides=overrides).run(spark)
        table = spark.read.parquet(str(folder / "flights"))
        demo.rates.add("pipeline: Kafka to Parquet", table.count(), started)
        rows = table.groupBy("carrier").agg(
            F.count("*").alias("flights"), F.count("dep_delay").alias("departed"), F.sum("dep_delay").alias("delay")
        )
        counted = {
            row["carrier"]: flights.Carrier(row["flights"], row["departed"], row["delay"] or 0)
            for row in rows.collect()
        }
        return flights.Totals(counted), table.where(F.col("source") == "again").count()
    finally:
        spark.stop()
