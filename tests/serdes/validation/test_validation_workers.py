"""Validation that may take long: in worker processes, in bounded time and memory."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from magicbyte.kit.processes.processor_time import seconds_spent
from serdes import AsyncJSONDeserializer, AsyncJSONSerializer, SerializationContext
from serdes.client.clients import AsyncRegistryClient, RegistryClient
from serdes.error import DatumRefused, PayloadError, SchemaCompileError, ValidationUnavailable
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.validation.judging import limit_judging, pool
from serdes.validation.refusal import ValueRefused
from serdes.validation.validator import JsonValidator

VALUE = SerializationContext("t", "value")


def tangled(depth: int, **root: Any) -> str:
    """A schema whose validation doubles with each level; the amount must be an integer at the end of all ways."""
    links = {f"d{level}": {"oneOf": [{"$ref": f"#/definitions/d{level + 1}"}] * 2} for level in range(depth)}
    definitions = {**links, f"d{depth}": {"type": "integer"}}
    return json.dumps({"definitions": definitions, "properties": {"amount": {"$ref": "#/definitions/d0"}}, **root})


#: Too much for an event loop, and too much for any caller.
SLOW, ENDLESS = tangled(20), tangled(30)
GIVEN_UP = (
    "refused by oneOf (at #/definitions/d0/oneOf of the schema); validation was ended, as it took more than 0.5 s of "
    "processor time"
)


@pytest.fixture(autouse=True)
def _no_worker_is_left() -> Iterator[None]:
    yield
    pool.close()


def process_ids() -> list[int]:
    return [worker._process.pid for worker in pool._idle]


def test_the_refusal_of_a_value_that_takes_too_long_names_keyword_and_path() -> None:
    validator = JsonValidator(ENDLESS)
    validator.check({"other": 1})
    (before,) = process_ids()
    with pytest.raises(ValueRefused) as raised:
        validator.check({"amount": "x"})
    assert raised.value.refusal.path == ("amount",)
    assert raised.value.refusal.keyword == "oneOf"
    assert raised.value.refusal.reason == GIVEN_UP
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    # The next value has a worker again.
    validator.check({"other": 1})
    assert process_ids() != [before]


def test_a_worker_explains() -> None:
    validator = JsonValidator(tangled(30, required=["name"]))
    with pytest.raises(ValueRefused, match=r'^\$: "name" is a required property$'):
        validator.check({"other": 1})


def test_memory_is_bounded() -> None:
    links = {
        f"d{level}": {"anyOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2, "unevaluatedProperties": False}
        for level in range(26)
    }
    draft = "https://json-schema.org/draft/2020-12/schema"
    schema = {"$schema": draft, "$defs": {**links, "d26": {"properties": {"a": True}}}, "$ref": "#/$defs/d0"}
    with pytest.raises(ValueRefused, match="validation was ended, as it"):
        JsonValidator(json.dumps(schema)).check({"a": 1})


def test_a_schema_that_only_a_worker_may_compile_is_refused_by_it() -> None:
    with pytest.raises(SchemaCompileError, match='"nope" is not valid'):
        JsonValidator(tangled(30, type="nope")).check({})


def test_nothing_is_started_without_need() -> None:
    JsonValidator('{"required": ["a"]}').check({"a": 1})
    with pytest.raises(ValueRefused):
        JsonValidator('{"required": ["a"]}').check({})
    assert process_ids() == []


def test_workers_are_few() -> None:
    validator = JsonValidator(ENDLESS)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(validator.check, [{"other": number} for number in range(40)]))
    assert 1 <= len(process_ids()) <= 2


def test_a_worker_that_died_is_replaced() -> None:
    validator = JsonValidator(ENDLESS)
    validator.check({})
    (worker,) = process_ids()
    os.kill(worker, signal.SIGKILL)
    validator.check({})
    assert process_ids() != [worker]


def test_a_worker_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    validator = JsonValidator(ENDLESS)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ValidationUnavailable, match="its worker process cannot be started"):
        validator.check({})
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(ValidationUnavailable, match="no Python interpreter is known"):
        validator.check({})


def run(program: str, folder: Path, **environment: str) -> list[str]:
    """The lines that a user's program prints."""
    (folder / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


PROGRAM = f"""
from serdes.validation.refusal import ValueRefused
from serdes.validation.validator import JsonValidator
print("begins")
validator = JsonValidator({ENDLESS!r})
validator.check({{}})
"""


def test_a_program_without_a_main_guard_runs_once(tmp_path: Path) -> None:
    assert run(f"{PROGRAM}print('ends')", tmp_path) == ["begins", "ends"]


def test_a_folder_of_the_program_hides_no_module_of_ours(tmp_path: Path) -> None:
    (tmp_path / "worker.py").write_text("raise SystemExit(1)")
    (tmp_path / "validation").mkdir()
    assert run(f"{PROGRAM}print('ends')", tmp_path) == ["begins", "ends"]


def test_modules_are_found_where_the_program_found_them(tmp_path: Path) -> None:
    """Spark's executors add archives to sys.path, which no environment variable names."""
    packages = Path(__file__).parents[3]
    code = f"""
import sys
sys.path = [entry for entry in sys.path if entry != {str(packages)!r}]
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__.lower()]
sys.path.append({str(packages)!r})
{PROGRAM}
print("ends")
"""
    assert run(code, tmp_path) == ["begins", "ends"]


def test_a_forked_process_has_workers_of_its_own(tmp_path: Path) -> None:
    code = f"""
import os
{PROGRAM}
from serdes.validation.judging import limit_judging, pool
of_parent = pool._idle[0]._process.pid
child = os.fork()
if not child:
    validator.check({{}})
    os._exit(pool._idle[0]._process.pid == of_parent)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
validator.check({{}})
print(pool._idle[0]._process.pid == of_parent)
"""
    assert run(code, tmp_path) == ["begins", "0", "True"]


def test_workers_end_with_their_program(tmp_path: Path) -> None:
    code = f"""
import os, signal
{PROGRAM}
from serdes.validation.judging import limit_judging, pool
print(pool._idle[0]._process.pid, flush=True)
signal.pause()
"""
    (tmp_path / "program.py").write_text(code)
    command = [sys.executable, "program.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "begins\n"
        worker = int(program.stdout.readline())
        handle = os.pidfd_open(worker)
        program.kill()
    # It is readable when the process has ended.
    with os.fdopen(handle, "rb") as watched:
        assert select.select([watched], [], [], 30)[0]


def test_a_poisoned_record_does_not_stop_a_consumer(client: RegistryClient) -> None:
    lax = JSONSerializer(ENDLESS, client, conf={"validate": False})
    messages = [lax({"amount": amount, "n": n}, VALUE) for n, amount in enumerate([None, "x", None])]
    del messages[0]
    deserialize = JSONDeserializer(None, None, client)
    with pytest.raises(PayloadError) as raised:
        deserialize(messages[0], VALUE)
    assert raised.value == PayloadError(f"$.amount: {GIVEN_UP}")
    assert deserialize(lax({"n": 2}, VALUE), VALUE) == {"n": 2}
    with pytest.raises(DatumRefused) as refused:
        JSONSerializer(ENDLESS, client)({"amount": "x"}, VALUE)
    assert refused.value == DatumRefused("$.amount", "str", GIVEN_UP)


def test_asynchronous_clients_hold_up_no_event_loop(client: RegistryClient, transport: Any) -> None:
    message = JSONSerializer(SLOW, client, conf={"validate": False})({"amount": "x"}, VALUE)
    awaited = AsyncRegistryClient("http://registry", transport=transport)
    order: list[str] = []

    async def refused(call: Any, *arguments: Any) -> None:
        try:
            await call(*arguments)
        except (PayloadError, DatumRefused) as error:
            assert "refused by oneOf; to find the reason takes too much work" in str(error)  # noqa: PT017
            order.append("refused")

    async def other() -> None:
        await asyncio.sleep(0)
        order.append("other")

    async def main() -> None:
        deserialize, serialize = AsyncJSONDeserializer(None, None, awaited), AsyncJSONSerializer(SLOW, awaited)
        alone = AsyncJSONDeserializer(SLOW)
        assert await deserialize(message.replace(b'"x"', b"null").replace(b"amount", b"other"), VALUE) == {
            "other": None
        }
        await serialize({}, VALUE)
        await alone(b"\0\0\0\0\1{}", VALUE)
        for call in ((deserialize, message, VALUE), (serialize, {"amount": "x"}, VALUE), (alone, message, VALUE)):
            await asyncio.gather(refused(*call), other())

    asyncio.run(main())
    assert order == ["other", "refused"] * 3


def test_the_time_of_all_values_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    # Restores the time of this process.
    monkeypatch.setattr("serdes.validation.judging._seconds_left", float("inf"))
    check = JsonValidator(ENDLESS).check
    limit_judging(0.1)
    with pytest.raises(ValueRefused, match="validation was ended, as it took more than"):
        check({"amount": "x"})
    with pytest.raises(ValueRefused, match=r"validation was not begun, as the values before it took all of its time$"):
        check({"amount": "x"})
    limit_judging(60)
    with pytest.raises(ValueRefused, match="validation was ended"):
        check({"amount": "x"})


def test_the_time_that_counts_is_that_of_processors() -> None:
    validator = JsonValidator(ENDLESS)
    validator.check({"other": 1})  # starts the worker
    (worker,) = process_ids()
    before = seconds_spent()
    os.kill(worker, signal.SIGSTOP)
    waking = threading.Timer(0.6, os.kill, (worker, signal.SIGCONT))
    waking.start()
    validator.check({"other": 1})
    waking.join()
    assert process_ids() == [worker]
    assert seconds_spent() - before < 0.5
    with pytest.raises(ValueRefused, match="processor time"):
        validator.check({"amount": "x"})
    assert seconds_spent() - before >= 0.5
