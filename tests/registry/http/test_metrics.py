"""The counts of the registry, and the names that its settings leave out."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from registry.cluster.lag_clock import LagClock

RECORD = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
WIDER = RECORD.replace('"int"}', '"int"},{"name":"b","type":"int"}')


def metrics(api: Any) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in api("GET", "/metrics").text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def changes(api: Any, before: dict[str, float], *prefixes: str) -> dict[str, float]:
    """The metrics that have grown since, of those whose names begin so; the counts are those of the process."""
    return {
        name: value - before.get(name, 0.0)
        for name, value in metrics(api).items()
        if name.startswith(prefixes) and value != before.get(name, 0.0)
    }


@pytest.mark.parametrize(
    ("bodies", "counted"),
    [
        ([{"schema": RECORD}], {("AVRO", "new"): 1}),
        ([{"schema": RECORD}, {"schema": RECORD}], {("AVRO", "new"): 1, ("AVRO", "existing"): 1}),
        ([{"schema": RECORD}, {"schema": WIDER}], {("AVRO", "new"): 1, ("AVRO", "incompatible"): 1}),
        ([{"schema": "x"}], {("AVRO", "invalid"): 1}),
        ([{"schema": "{}", "schemaType": "JSON"}], {("JSON", "new"): 1}),
        ([{"schema": "{}", "schemaType": "made-up-by-a-client"}], {("other", "invalid"): 1}),
        (
            [{"schema": RECORD, "references": [{"name": "n", "subject": "none", "version": 1}]}],
            {("AVRO", "invalid"): 1},
        ),
    ],
)
def test_registrations_are_counted_by_outcome(api: Any, bodies: list[Any], counted: dict[Any, float]) -> None:
    before = metrics(api)
    for body in bodies:
        api("POST", "/subjects/s/versions", body)
    name = "magicbyte_registry_registrations_total"
    assert changes(api, before, name) == {
        f'{name}{{outcome="{outcome}",type="{kind}"}}': count for (kind, outcome), count in counted.items()
    }


def test_a_read_only_subject_is_a_failed_registration(api: Any) -> None:
    api("PUT", "/mode/s", {"mode": "READONLY"})
    before = metrics(api)
    assert api.register("s", RECORD).status_code == 422
    grown = changes(api, before, "magicbyte_registry_registrations_total")
    assert grown == {'magicbyte_registry_registrations_total{outcome="failed",type="AVRO"}': 1}


def test_comparisons_commits_and_caches_are_counted(api: Any) -> None:
    before = metrics(api)
    api.register("s", RECORD)
    api.register("s", WIDER)
    for _ in range(3):
        api("GET", "/subjects/s/versions/1")
    grown = changes(api, before, "magicbyte_registry_")
    assert grown['magicbyte_registry_compatibility_total{verdict="incompatible"}'] == 1
    assert grown['magicbyte_registry_compatibility_seconds_count{level="BACKWARD",type="AVRO"}'] == 1
    assert grown["magicbyte_registry_commit_seconds_count"] == 1
    assert grown["magicbyte_registry_commit_records_sum"] == 1
    assert grown['magicbyte_registry_parse_seconds_count{type="AVRO"}'] == 2
    assert grown['magicbyte_registry_cache_hits_total{cache="answers"}'] == 2
    assert grown['magicbyte_registry_cache_misses_total{cache="schemas"}'] >= 2


def test_the_state_of_the_log_and_of_contexts(api: Any) -> None:
    api.register("s", RECORD)
    api.register(":.other:s", '"int"')
    now = metrics(api)
    assert now['magicbyte_registry_highest_id{context="."}'] == 1
    assert now['magicbyte_registry_highest_id{context=".other"}'] == 1
    assert now["magicbyte_registry_end_offset"] == now["magicbyte_registry_offset"] + 1
    assert (now["magicbyte_registry_lag"], now["magicbyte_registry_lag_seconds"]) == (0, 0)
    assert now["magicbyte_registry_replay_progress"] == 1
    assert now['magicbyte_registry_schemas{type="AVRO"}'] == 2
    assert [value for name, value in now.items() if name.startswith("magicbyte_build_info{")] == [1]
    assert now["magicbyte_memory_limit_bytes"] > now["process_resident_memory_bytes"] > 0


@pytest.mark.parametrize(
    ("properties", "has_confluents"), [({}, True), ({"magicbyte_metrics_confluent_names": "false"}, False)]
)
def test_confluents_names_can_be_left_out(
    make_api: Callable[..., Any], properties: dict[str, str], *, has_confluents: bool
) -> None:
    api = make_api(**properties)
    api.register("s", RECORD)
    assert any(name.startswith("kafka_schema_registry_") for name in metrics(api)) == has_confluents


@pytest.mark.slow
def test_ten_thousand_random_paths_make_few_series(api: Any) -> None:
    chance = random.Random(1)
    beginnings = (
        "",
        "subjects/",
        "subjects/s/versions/",
        "schemas/ids/",
        "config/",
        "mode/",
        "contexts/",
        "ui/",
        "v1/",
    )

    def series() -> list[str]:
        return [line for line in api("GET", "/metrics").text.splitlines() if not line.startswith("#")]

    before = len(series())
    for _ in range(10_000):
        method = chance.choice(("GET", "GET", "POST", "PUT", "DELETE", "PATCH", "BREW"))
        api(method, f"/{chance.choice(beginnings)}{chance.getrandbits(64)}")
    # Those of the process's other tests are there already.
    assert len(series()) - before < 300


@pytest.mark.parametrize(
    ("looks", "seconds"),
    [
        ([(0, 5, 5)], 0),
        ([(0, 4, 5)], 0),
        ([(0, 4, 5), (30, 4, 6)], 30),
        # The end that was seen first has been reached, so the view is behind since the second look only.
        ([(0, 4, 5), (30, 5, 9), (40, 6, 9)], 10),
        ([(0, 4, 5), (30, 9, 9)], 0),
    ],
)
def test_lag_is_the_time_since_an_unread_end_was_seen(looks: list[tuple[int, int, int]], seconds: float) -> None:
    clock = LagClock(iter([float(now) for now, _, _ in looks]).__next__)
    assert [clock.seconds(position, end) for _, position, end in looks][-1] == seconds
