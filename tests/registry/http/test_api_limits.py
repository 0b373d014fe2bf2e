"""Requests that are too large, too deep, too long or go round in circles are refused clearly and soon."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from compat.schema import SchemaText
from magicbyte.kit.processes.async_worker_pool import AsyncWorkerPool
from registry import answering
from registry.offload.parsing import Parser
from tests.registry.http.workers import answered_by_worker

DEEP = 5_000
REFUSED = [
    ("AVRO", '{"type":"array","items":' * DEEP + '"int"' + "}" * DEEP, "Nested deeper than 200 levels"),
    ("AVRO", "[" * 100_000, "Nested deeper than 200 levels"),
    ("JSON", '{"not":' * DEEP + "{}" + "}" * DEEP, "Nested deeper than 200 levels"),
    ("PROTOBUF", "message A {" * DEEP + "}" * DEEP, "nest deeper"),
    (
        "AVRO",
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":1' + "0" * 100_000 + "}]}",
        "A number is longer than 1000 characters",
    ),
    ("AVRO", '{"type":"fixed","name":"F","size":1e400}', "A number is too large"),
    ("JSON", '{"maximum":1e1001}', "A number's exponent is not between -1000 and 1000 (line 1, column 12)"),
    ("PROTOBUF", "message A { optional int32 a = 99999999999999999999999; }", "expected the number of the field"),
]


@pytest.mark.parametrize(("kind", "text", "detail"), REFUSED)
def test_a_schema_beyond_the_limits(api: Any, kind: str, text: str, detail: str) -> None:
    started = time.process_time()
    answered = api.register("s", text, schemaType=kind)
    assert (answered.status_code, answered.json()["error_code"]) == (422, 42201)
    assert detail in answered.json()["message"]
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        '{"$ref":"#"}',
        '{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}}',
    ],
)
def test_a_schema_that_refers_to_itself_can_be_compared(api: Any, text: str) -> None:
    assert api.register("s", text, schemaType="JSON").status_code == 200
    answered = api("POST", "/compatibility/subjects/s/versions?verbose=true", {"schema": text, "schemaType": "JSON"})
    assert answered.json() == {"is_compatible": True, "messages": []}


def test_schemas_that_import_each_other_end(api: Any) -> None:
    api("PUT", "/mode", {"mode": "IMPORT"})
    api.register("x", 'syntax = "proto3"; message X {}', schemaType="PROTOBUF", id=1, version=1)
    to_x = [{"name": "x.proto", "subject": "x", "version": 1}]
    api.register("y", 'import "x.proto"; message Y {}', schemaType="PROTOBUF", id=2, version=1, references=to_x)
    to_y = [{"name": "y.proto", "subject": "y", "version": 1}]
    answered = api.register(
        "x", 'import "y.proto"; message X {}', schemaType="PROTOBUF", id=3, version=1, references=to_y
    )
    assert (answered.status_code, answered.json()["message"]) == (
        422,
        'Invalid schema of type PROTOBUF, details: the references lead back to subject "x" and version 1',
    )


#: A schema, and one that refers to it by a name.
REFERRING = {
    "AVRO": ('"int"', '"int"'),
    "JSON": ("true", '{"$ref":"n0"}'),
    "PROTOBUF": ('syntax = "proto3";', 'syntax = "proto3"; import "n0"; message A {}'),
}


@pytest.mark.parametrize("kind", REFERRING)
def test_more_than_ten_thousand_references_are_refused(api: Any, kind: str) -> None:
    base, text = REFERRING[kind]
    assert api.register("base", base, schemaType=kind).status_code == 200
    references = [{"name": f"n{index}", "subject": "base", "version": 1} for index in range(10_001)]
    started = time.process_time()
    answered = api.register("s", text, schemaType=kind, references=references)
    message = f"Invalid schema of type {kind}, details: more than 10000 references"
    assert (answered.status_code, answered.json()["message"]) == (422, message)
    assert time.process_time() - started < 5


def namesakes(count: int, other: str) -> str:
    """An Avro union of records that have one name in many namespaces: each has to be compared with each."""
    fields = [{"name": "a", "type": "int"}, {"name": other, "type": "string"}]
    return json.dumps([{"type": "record", "name": "R", "namespace": f"n{at}", "fields": fields} for at in range(count)])


TOO_LARGE_TO_COMPARE = {
    "error_code": 42209,
    "message": (
        "Comparing the schema with earlier versions takes more than 1000000 steps or 1.2 seconds; make it smaller or "
        "simpler, compare it with fewer versions, or register it with force=true"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["BACKWARD", "FULL_TRANSITIVE"])
def test_a_comparison_that_takes_too_much_work_is_refused(api: Any, level: str) -> None:
    for number in range(3):
        body = {"schema": namesakes(600, f"b{number}")}
        assert answered_by_worker(api, "/subjects/s/versions?force=true", body).status_code == 200
    assert api("PUT", "/config/s", {"compatibility": level}).status_code == 200
    for path in ("/subjects/s/versions", "/compatibility/subjects/s/versions", "/compatibility/subjects/s/versions/1"):
        started = time.process_time()
        answered = answered_by_worker(api, f"{path}?explain=true", {"schema": namesakes(600, "c")})
        assert (answered.status_code, answered.json()) == (422, TOO_LARGE_TO_COMPARE)
        assert time.process_time() - started < 20
    body = {"schema": namesakes(600, "c")}
    assert answered_by_worker(api, "/subjects/s/versions?force=true", body).json()["version"] == 4
    assert api.register("t", '"int"').status_code == 200


@pytest.mark.slow
def test_versions_too_many_to_be_read_are_refused_before_they_are_read(api: Any) -> None:
    text = '{"type":"fixed","name":"F","size":1,"doc":"%s"}'
    for number in range(4):
        body = {"schema": text % (str(number) * 3_000_000)}
        assert answered_by_worker(api, "/subjects/s/versions", body).status_code == 200
    assert api("PUT", "/config/s", {"compatibility": "BACKWARD_TRANSITIVE"}).status_code == 200
    answered = answered_by_worker(api, "/compatibility/subjects/s/versions", {"schema": text % "new"})
    assert (answered.status_code, answered.json()) == (422, TOO_LARGE_TO_COMPARE)
    # Told from the versions that can be read.
    other = {"schema": '"int"'}
    told = answered_by_worker(api, "/compatibility/subjects/s/versions", other).json()
    assert told == {"is_compatible": False}


def test_explanations_of_many_differences_end_soon(api: Any) -> None:
    def properties(kind: str) -> str:
        nested = {f"q{at}": {"type": kind, "description": "of this"} for at in range(20)}
        objects = {f"p{at}": {"type": "object", "properties": nested} for at in range(60)}
        return json.dumps({"type": "object", "properties": objects})

    assert api.register("s", properties("string"), schemaType="JSON").status_code == 200
    body = {"schema": properties("integer"), "schemaType": "JSON"}
    started = time.process_time()
    found = api("POST", "/compatibility/subjects/s/versions?explain=true", body).json()["explanations"]
    assert time.process_time() - started < 20
    assert len(found) == 1000
    assert json.loads(found[0]["example"])
    assert found[-1]["example"] is None
    refused = api("POST", "/subjects/s/versions?explain=true", body).json()["explanations"]
    # How many of them have an example is a matter of time.
    assert [row | {"example": None} for row in refused] == [row | {"example": None} for row in found]
    assert json.loads(refused[0]["example"])


def test_tags_are_taken_over_from_a_version_with_many_of_them(api: Any) -> None:
    def text(tags: str) -> str:
        fields = ",".join(f'{{"name":"f{at}","type":"int","default":0{tags}}}' for at in range(1500))
        return f'{{"type":"record","name":"R","fields":[{fields}]}}'

    assert api.register("s", text(',"confluent:tags":["PII"]')).status_code == 200
    started = time.process_time()
    assert api.register("s", text(',"doc":"new"'), propagateSchemaTags=True).json()["version"] == 2
    assert time.process_time() - started < 10
    tags = api("GET", "/subjects/s/versions/2?findTags=PII").json()["schemaTags"]
    assert len(tags) == 1500
    assert tags[0] == {"schemaEntity": {"entityPath": "R.f0", "entityType": "sr_field"}, "tags": ["PII"]}


def test_a_schema_that_takes_too_long_to_read_is_refused(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A kernel counts processor time in ticks of up to 10 ms; these take many of them.
    assert api.register("s", namesakes(8000, "x")).status_code == 200
    for name, value in (("_JOB_SECONDS", 0.001), ("_SECONDS_A_MILLION", 0.0), ("_BUSY_FACTOR", 60_000)):
        monkeypatch.setattr(answering, name, value)
    refused = {
        "error_code": 42209,
        "message": (
            "Reading the schema, or what it refers to, takes too much time or memory; make it smaller or simpler"
        ),
    }
    answered = api.register("t", namesakes(8000, "b"))
    assert (answered.status_code, answered.json()) == (422, refused)
    answered = api("GET", "/subjects/s/versions/1?findTags=*")
    assert (answered.status_code, answered.json()) == (422, refused)
    assert api("GET", "/subjects/s/versions/1").status_code == 200
    assert api.register("t", '"int"').status_code == 200


def test_a_schema_that_a_busy_machine_does_not_read_in_time_may_be_sent_again(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_JOB_SECONDS", 60.0), ("_SECONDS_A_MILLION", 0.0), ("_BUSY_FACTOR", 1e-5)):
        monkeypatch.setattr(answering, name, value)
    answered = api.register("t", namesakes(400, "b"))
    assert (answered.status_code, answered.headers["Retry-After"]) == (503, "1")


def test_a_large_schema_waits_for_a_process_for_a_while_only(
    make_api: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "AsyncWorkerPool", partial(AsyncWorkerPool, size=1, wait_seconds=0.1))
    api = make_api()
    assert api.register("s", namesakes(600, "x")).status_code == 200
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            api("POST", "/compatibility/subjects/s/versions", {"schema": namesakes(600, "c")})

    busy = threading.Thread(target=keep_busy)
    busy.start()
    try:
        until = time.monotonic() + 60
        while (answered := api.register("t", namesakes(400, "b"))).status_code != 503:
            assert time.monotonic() < until
    finally:
        stop.set()
        busy.join()
    assert answered.json() == {
        "error_code": 503,
        "message": "All processes that read and compare large schemas are busy; try again",
    }
    assert answered.headers["retry-after"] == "1"
    assert api.register("t", namesakes(400, "b")).status_code == 200


def test_the_long_lines_of_an_import_may_refer_to_one_another(api: Any) -> None:
    def line(number: int) -> str:
        before = f"R{number - 1}" if number > 1 else "int"
        fields = [{"name": f"a_field_of_a_long_record_{at}", "type": "int"} for at in range(300)]
        text = json.dumps(
            {"type": "record", "name": f"R{number}", "fields": [*fields, {"name": "last", "type": before}]}
        )
        references = [{"name": before, "subject": f"s{number - 1}", "version": 1}] if number > 1 else []
        return json.dumps(
            {"subject": f"s{number}", "version": 1, "id": number, "schema": text, "references": references}
        )

    lines = "\n".join(map(line, range(1, 31)))
    answered = api.client.post("/import?lines=true", content=lines, headers={"Content-Type": "application/x-ndjson"})
    assert answered.json() == {"imported": {"schema": 30}, "known": 0, "refused": []}


def test_texts_that_are_long_are_forgotten_sooner() -> None:
    parser = Parser(remembered=1000)
    texts = [f'{{"type":"fixed","name":"F","size":{size},"doc":"{"x" * 300_000}"}}' for size in range(1, 4)]
    first, *_ = (parser(SchemaText("AVRO", text), (), strict=True) for text in texts)
    assert parser(SchemaText("AVRO", texts[2]), (), strict=True) is parser(
        SchemaText("AVRO", texts[2]), (), strict=True
    )
    assert parser(SchemaText("AVRO", texts[0]), (), strict=True) is not first


@pytest.mark.parametrize("field", ["version", "id", "newVersion"])
@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 10**30])
def test_a_number_that_is_no_int32(api: Any, field: str, number: int) -> None:
    api.register("s", '"int"')
    path = "/subjects/s/versions" + ("/1/tags" if field == "newVersion" else "")
    answered = api("POST", path, {"schema": '"int"', field: number})
    assert (answered.status_code, answered.json()["error_code"]) == (400, 400)
    assert answered.json()["message"].startswith(field)


def test_ten_megabytes_are_too_large_a_body(api: Any) -> None:
    answered = api.client.post("/subjects/s/versions", content=b'{"schema":"' + b"x" * 10_000_000 + b'"}')
    assert (answered.status_code, answered.json()["error_code"]) == (413, 413)


def test_more_than_the_store_takes_is_refused(api: Any) -> None:
    api.log.max_record_bytes = 500
    answered = api.register("s", '{"type":"enum","name":"E","symbols":["A"],"doc":"' + "x" * 500 + '"}')
    assert answered.status_code == 422
    assert answered.json() == {
        "error_code": 42209,
        "message": "Register operation failed because schema is too large",
    }


def test_a_request_that_takes_too_long_is_answered(make_api: Callable[..., Any]) -> None:
    api = make_api(**{"request.timeout.ms": "1"})
    wide = '{"type":"record","name":"R","fields":[%s]}'
    text = wide % ",".join(f'{{"name":"f{index}","type":["null","string"]}}' for index in range(3000))
    answered = api.register("s", text)
    assert (answered.status_code, answered.json()["error_code"]) == (504, 504)
