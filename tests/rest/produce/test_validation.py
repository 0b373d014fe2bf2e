"""Validation by JSON Schema in the proxy: bounded work, whatever the schema."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from magicbyte.kit.errors import ApiError
from rest_proxy.formats.plain import DataError
from rest_proxy.produce.encoding_threads import EncodingThreads
from rest_proxy.produce.time_limit import RequestTime

CHAOS = Path(__file__).parents[2] / "chaos/rest_validation.py"


def tangled(depth: int) -> str:
    links = {f"d{level}": {"oneOf": [{"$ref": f"#/definitions/d{level + 1}"}] * 2} for level in range(depth)}
    definitions = {**links, f"d{depth}": {"type": "integer"}}
    return json.dumps({"definitions": definitions, "properties": {"amount": {"$ref": "#/definitions/d0"}}})


@pytest.mark.parametrize(
    ("depth", "reason"),
    [
        (16, "refused by oneOf; to find the reason takes too much work"),
        (20, "refused by oneOf; to find the reason takes too much work"),
        (26, "refused by oneOf (at #/definitions/d0/oneOf of the schema); validation was ended, as it took more than"),
    ],
)
def test_a_value_that_takes_too_long_is_refused(rest: Any, untouched: str, depth: int, reason: str) -> None:
    body = {"value_schema": tangled(depth), "records": [{"value": {}}, {"value": {"amount": "x"}}]}
    answer = rest.post_v2(f"/topics/{untouched}-{depth}", body, "jsonschema")
    assert (answer.status_code, answer.json()["error_code"]) == (400, 400)
    assert answer.json()["message"].startswith(f"Bad Request: records[1].value.amount: {reason}")


def test_values_that_a_tangled_schema_accepts_are_sent(rest: Any, topic: str) -> None:
    records = [{"value": {"other": 1}}, {"value": None}]
    made = rest.produce(topic, records, "jsonschema", value_schema=tangled(26))
    assert [offset["error_code"] for offset in made["offsets"]] == [None, None]
    path = rest.subscribed(topic, format="jsonschema")
    assert [record["value"] for record in rest.read_all(path, 2, "jsonschema")] == [{"other": 1}, None]


def test_a_tangled_schema_that_is_none(rest: Any, untouched: str) -> None:
    schema = json.dumps({**json.loads(tangled(30)), "required": "amount"})
    answer = rest.post_v2(f"/topics/{untouched}", {"value_schema": schema, "records": [{"value": {}}]}, "jsonschema")
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42205)
    assert answer.json()["message"].startswith("Invalid schema: ")


def test_definitions_of_2020_12_under_either_word(rest: Any, topic: str, untouched: str) -> None:
    schema = json.dumps(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "definitions": {"n": {"type": "integer"}},
            "properties": {"n": {"$ref": "#/$defs/n"}},
        }
    )
    rest.produce(topic, [{"value": {"n": 1}}], "jsonschema", value_schema=schema)
    body = {"value_schema": schema, "records": [{"value": {"n": "a"}}]}
    answer = rest.post_v2(f"/topics/{untouched}", body, "jsonschema")
    assert answer.json()["message"] == 'Bad Request: records[0].value.n: "a" is not of type "integer"'


@pytest.mark.slow
def test_the_attacks_in_short() -> None:
    attacks = ["depth-16", "depth-20", "depth-26", "many-records"]
    command = [sys.executable, "-P", str(CHAOS), "--seconds", "3", "--clients", "4", "--attack", *attacks]
    # It compares times: what else the machine does may spoil one run, but hardly two.
    for _ in range(2):
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        if done.returncode == 0:
            return
    pytest.fail(done.stdout + done.stderr)


def test_few_requests_wait() -> None:
    async def main() -> None:
        threads = EncodingThreads()
        held = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hold() -> None:
            asyncio.run_coroutine_threadsafe(held.wait(), loop).result()

        waiting = [asyncio.create_task(threads.run(hold)) for _ in range(34)]
        await asyncio.sleep(0)
        with pytest.raises(ApiError) as raised:
            await threads.run(hold)
        assert (raised.value.status, raised.value.headers) == (429, (("Retry-After", "1"),))
        held.set()
        await asyncio.gather(*waiting)
        assert await threads.run(lambda: 1) == 1
        threads.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("spent", "passed", "error"),
    [
        (1.9, 29.9, None),
        (2.1, 2.1, "the validation of the records before took more than 2 s of processor time; send fewer"),
        (0.1, 30.1, "the validation of the records before took more than 30 s; send fewer"),
    ],
)
def test_the_time_of_a_request_is_bounded(
    monkeypatch: pytest.MonkeyPatch, spent: float, passed: float, error: str | None
) -> None:
    processor_times, times = iter([7.0, 7.5, 7.0 + spent]), iter([100.0, 101.0, 100.0 + passed])
    monkeypatch.setattr("rest_proxy.produce.time_limit.seconds_spent", lambda: next(processor_times))
    monkeypatch.setattr("rest_proxy.produce.time_limit.time.monotonic", lambda: next(times))
    encode = RequestTime().limited(lambda value: value)
    assert [encode(b"a"), encode(b"b")] == [b"a", b"b"]
    if error is None:
        assert encode(b"c") == b"c"
    else:
        with pytest.raises(DataError, match=error):
            encode(b"c")
