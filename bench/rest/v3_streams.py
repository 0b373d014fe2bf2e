"""Streams of v3 beside v2, and lone records beside a bare ASGI function that produces, in one run.

PYTHONPATH=bench/kit python -P bench/rest/v3_streams.py [--seconds 1.5] [--repeats 3] [--before CHECKOUT]

A stream has at most ten chunks of 100 records undecided; v2 sends 100 records a request on as many connections as
`--clients` says. Lone records are v2 requests of one record. The bare function reads the body and waits for a delivery.
"""

from __future__ import annotations

import json
import socket
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from harness import Load, Sample, Target, interleaved, print_table, request, serving
from proxies import VALUE, media_type, new_topic, parser, produce_body, produced, surroundings

_A_CHUNK = 100
_CHUNKS_UNDECIDED = 10
#: Reads the body and waits for one delivery, with a thread that polls for delivery reports.
_BARE = """
import asyncio, sys, threading
import uvicorn
from confluent_kafka import Producer
bootstrap, topic, answer, port = sys.argv[1:]
BODY = open(answer, "rb").read()
HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())]
producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "enable.idempotence": True})
def poll():
    while True:
        producer.poll(0.2)
threading.Thread(target=poll, daemon=True).start()
async def app(scope, receive, send):
    loop = asyncio.get_running_loop()
    message = await receive()
    body = message["body"]
    while message["more_body"]:
        message = await receive()
        body += message["body"]
    delivered = loop.create_future()
    producer.produce(topic, body, on_delivery=lambda *_: loop.call_soon_threadsafe(delivered.set_result, None))
    await delivered
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})
sys.setswitchinterval(0.0005)
uvicorn.run(app, port=int(port), log_level="critical", access_log=False, lifespan="off", server_header=False,
            date_header=False)
"""


def stream(target: Target, topic: str, seconds: float) -> Sample:
    """Records on one connection; `requests/s` are chunks, and the times are those until a chunk is reported."""
    record = json.dumps({"value": {"type": "JSON", "data": VALUE}}).encode()
    body = (record + b"\n") * _A_CHUNK
    chunk = b"%x\r\n%b\r\n" % (len(body), body)
    address = urlsplit(target.url)
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = f"POST /v3/clusters/any/topics/{topic}/records HTTP/1.1\r\nHost: localhost\r\n"
        fields = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall((head + fields).encode())
        latencies: list[float] = []
        sent: list[float] = []
        reports = 0
        cpu, started = target.cpu_seconds(), time.perf_counter()
        while (now := time.perf_counter()) < started + seconds:
            while len(sent) < len(latencies) + _CHUNKS_UNDECIDED:
                sent.append(time.perf_counter())
                connection.sendall(chunk)
            reports += connection.recv(1 << 20).count(b'"error_code":200')
            while len(latencies) < reports // _A_CHUNK:
                latencies.append(time.perf_counter() - sent[len(latencies)])
        cpu = target.cpu_seconds() - cpu
    count = len(latencies)
    latencies.sort()
    p50, p99 = (latencies[int(count * share)] * 1000 for share in (0.5, 0.99))
    return Sample(count / (now - started), p50, p99, cpu / count * 1e6, target.rss_mb())


def main() -> int:
    """Measure both and print a table of each."""
    arguments = parser(__doc__)
    arguments.add_argument("--clients", type=int, default=1, help="connections of v2 beside a stream")
    options = arguments.parse_args()
    with surroundings(options) as (bootstrap, _, targets), tempfile.TemporaryDirectory() as folder:
        topic, target = new_topic(bootstrap), targets[0]
        headers = {"Content-Type": media_type("json")}
        path = f"/topics/{topic}"
        hundred = Load(
            options.clients, [request("POST", path, produce_body("json", 100, None), headers)], options.seconds
        )
        measures = {
            "v2, 100 a request": lambda: hundred.drive(target),
            "v3, a stream": lambda: stream(target, topic, options.seconds),
        }
        title = f"chunks of 100 records; v2 on {options.clients} connections, v3 on one"
        print_table(title, interleaved(measures, options.repeats), "v2, 100 a request")
        lone = produce_body("json", 1, None)
        answer = Path(folder, "answer")
        answer.write_bytes(produced(target.url, topic, "json", lone).content)
        with serving("bare ASGI", "-c", _BARE, bootstrap, topic, str(answer)) as bare:
            load = Load(32, [request("POST", path, lone, headers)], options.seconds)
            lone_measures = {one.name: lambda one=one: load.drive(one) for one in (*targets, bare)}
            print_table("lone records, 32 clients", interleaved(lone_measures, options.repeats), "bare ASGI")
    return 0


if __name__ == "__main__":
    sys.exit(main())
