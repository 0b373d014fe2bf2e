"""Producing through the REST proxy, beside bare librdkafka, the bare HTTP server and other proxies, in one run.

PYTHONPATH=bench/kit python -P bench/rest/produce.py [--records 1 10 100] [--clients 1 8 32]
    [--formats json binary avro] [--before CHECKOUT]
    [--compare-with NAME=URL --bootstrap-servers HOST:PORT --registry URL]

Broker, registry and proxy are started for the run unless a broker is given, which other proxies need. The floor is a
bare ASGI function that gives the same request the same answer; bare librdkafka waits for the delivery reports.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor

from confluent_kafka import Producer
from harness import Load, Sample, interleaved, print_table, raw_asgi, request
from proxies import VALUE, media_type, new_topic, parser, produce_body, produced, surroundings


def bare(bootstrap: str, topic: str, records: int, clients: int, seconds: float) -> Sample:
    """The same load on librdkafka itself: each of the clients waits for the delivery reports of its records."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "enable.idempotence": True})
    value = json.dumps(VALUE).encode()
    latencies: list[float] = []
    waiting = [0] * clients
    sent = [0.0] * clients
    again: list[int] = list(range(clients))

    def arrived(client: int) -> None:
        waiting[client] -= 1
        if not waiting[client]:
            latencies.append(time.perf_counter() - sent[client])
            again.append(client)

    producer.produce(topic, value)
    producer.flush(30)  # connected
    cpu, started = time.process_time(), time.perf_counter()
    while (now := time.perf_counter()) < started + seconds:
        ready, again[:] = again[:], []
        for client in ready:
            waiting[client], sent[client] = records, time.perf_counter()
            for _ in range(records):
                producer.produce(topic, value, on_delivery=lambda *_, client=client: arrived(client))
        producer.poll(0.01)
    cpu = time.process_time() - cpu
    producer.flush(10)
    latencies.sort()
    return Sample(
        len(latencies) / (now - started),
        latencies[len(latencies) // 2] * 1000,
        latencies[int(len(latencies) * 0.99)] * 1000,
        cpu / len(latencies) * 1e6,
        0.0,
    )


def main() -> int:
    """Measure and print a table for each size of request and number of clients."""
    arguments = parser(__doc__)
    arguments.add_argument("--records", type=int, nargs="+", default=[1, 10, 100])
    arguments.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    options = arguments.parse_args()
    with (
        surroundings(options) as (bootstrap, _, targets),
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool,
    ):
        topic = new_topic(bootstrap)
        schema_id = produced(targets[0].url, topic, "avro", produce_body("avro", 1, None)).json()["value_schema_id"]
        for records in options.records:
            bodies = {form: produce_body(form, records, schema_id) for form in options.formats}
            answer = produced(targets[0].url, topic, options.formats[0], bodies[options.formats[0]])
            with raw_asgi(answer.content, answer.headers["content-type"]) as floor:
                for clients in options.clients:
                    measures: dict[str, Callable[[], Sample]] = {}
                    for target in [*targets, floor]:
                        for form in options.formats if target is not floor else options.formats[:1]:
                            headers = {"Content-Type": media_type(form)}
                            load = Load(
                                clients, [request("POST", f"/topics/{topic}", bodies[form], headers)], options.seconds
                            )
                            measures[f"{target.name} {form}"] = lambda load=load, target=target: load.drive(target)
                    measures["bare librdkafka"] = lambda records=records, clients=clients: pool.submit(
                        bare, bootstrap, topic, records, clients, options.seconds
                    ).result()
                    report(records, clients, interleaved(measures, options.repeats))
    return 0


def report(records: int, clients: int, samples: dict[str, list[Sample]]) -> None:
    """Print a table, and what the goals are about: records a second, and p50 to three bare produces and the floor."""
    print_table(f"{records} records a request, {clients} clients", samples, "bare librdkafka")
    *ours, floor, librdkafka = samples
    limit = 3 * _p50(samples[librdkafka]) + _p50(samples[floor])
    for name in ours:
        rate = statistics.median(sample.per_second for sample in samples[name]) * records
        print(f"{name}: {rate:.0f} records/s; p50 {_p50(samples[name]):.2f} ms, 3 bare and the floor {limit:.2f} ms")


def _p50(samples: Sequence[Sample]) -> float:
    return statistics.median(sample.p50_ms for sample in samples)


if __name__ == "__main__":
    sys.exit(main())
