from __future__ import annotations

import json

import pytest

from magicbyte.cli.capacity.estimate import Load, limit, needs
from magicbyte.cli.capacity.figures import Figures, Line, line, load, parse
from magicbyte.cli.main import main
from tools.capacity_tables import TABLES, rules_of

FIGURES = parse(
    {
        "date": "2026-01-02",
        "machine": {"cores": "2 cores"},
        "schemas": [
            {
                "schemas": 1000,
                "text_mb": 1.0,
                "topic_mb": 1.2,
                "rss_mb": 102.0,
                "ready_seconds": 1.01,
                "first_write_seconds": 0.5,
            },
            {
                "schemas": 11000,
                "text_mb": 11.0,
                "topic_mb": 13.2,
                "rss_mb": 122.0,
                "ready_seconds": 1.11,
                "first_write_seconds": 0.5,
            },
        ],
        "clients": [
            {"clients": 1, "per_second": 100.0, "p50_ms": 9.0},
            {"clients": 32, "per_second": 800.0, "p50_ms": 40.0},
        ],
        "reads": [
            {"path": "GET a", "per_core": 10000.0, "p99_ms": 3.0},
            {"path": "GET b", "per_core": 5000.0, "p99_ms": 4.0},
        ],
        "records": [
            {"format": "json", "batch": 1, "per_second": 3000.0, "per_core": 4000.0},
            {"format": "json", "batch": 100, "per_second": 80000.0, "per_core": 100000.0},
        ],
        "instances": [{"instances": 0, "rss_mb": 90.0}, {"instances": 500, "rss_mb": 140.0}],
    }
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (
            Load(schemas=6000),
            {
                "memory of a node": (112.0, ""),
                "memory limit of a node": (192.0, "1.5 times the memory"),
                "topic on a broker's disk": (7.2, ""),
                "start until it reads": (1.06, ""),
                "and until it writes": (0.5, "of a node that becomes the leader"),
            },
        ),
        # The slowest path decides, and a core is filled to 60 %.
        (Load(schemas=6000, rps=6000), {"cores for reads": (2.0, "at 60% load; followers share them")}),
        (
            Load(schemas=6000, registrations=400),
            {"the leader's write capacity": (50.0, "of 800/s with 32 clients; one leader writes")},
        ),
        (
            Load(schemas=6000, registrations=801),
            {
                "the leader's write capacity": (
                    100.125,
                    "of 800/s with 32 clients; one leader writes: MORE than one registry can write",
                )
            },
        ),
        # As many as were measured.
        (Load(schemas=11000), {"memory of a node": (122.0, ""), "topic on a broker's disk": (13.2, "")}),
        (Load(schemas=21000), {"memory of a node": (142.0, "beyond the 11,000 schemas that were measured")}),
        (
            Load(schemas=0, records=12000, instances=900),
            {
                "memory of a process": (180.0, "beyond the 500 instances that were measured"),
                "memory limit of a process": (320.0, "1.5 times the memory, and its buffer"),
                "cores, json, 1 a request": (5.0, "at 60% load"),
                "cores, json, 100 a request": (0.2, "at 60% load"),
            },
        ),
        # One process has room for 960.
        (
            Load(schemas=0, instances=961),
            {
                "processes": (2, "each has at most 960 consumer instances"),
                "memory of a process": (138.1, ""),
                "memory limit of a process": (256.0, "1.5 times the memory, and its buffer"),
            },
        ),
    ],
)
def test_a_load_needs_what_the_slopes_say(wanted: Load, expected: dict[str, tuple[float, str]]) -> None:
    found = {need.what: (pytest.approx(need.amount), need.note) for need in needs(wanted, FIGURES)}
    assert {what: found[what] for what in expected} == expected


def test_a_proxy_is_told_only_if_it_has_a_load() -> None:
    assert {need.server for need in needs(Load(schemas=1), FIGURES)} == {"registry"}
    assert {need.server for need in needs(Load(schemas=1, instances=1), FIGURES)} == {"registry", "rest-proxy"}


def test_as_many_instances_as_fit_need_one_process() -> None:
    assert "processes" not in {need.what for need in needs(Load(instances=960), FIGURES)}


@pytest.mark.parametrize(("memory", "expected"), [(1.0, 64), (42.6, 64), (42.7, 128), (128.0, 192), (129.0, 256)])
def test_a_limit_is_a_multiple_of_64_mb(memory: float, expected: int) -> None:
    assert limit(memory) == expected


def test_a_line_goes_through_the_first_and_the_last_point() -> None:
    assert line([10, 20, 30], [1.0, 9.0, 5.0]) == Line(-1.0, 0.2)
    assert line([10, 20], [1.0, 3.0]).at(3) == 0.0
    # Noise of the run: more never needs less.
    assert line([10, 20], [3.0, 1.0]) == Line(3.0, 0.0)


def test_the_page_has_the_rules_of_the_same_figures() -> None:
    assert rules_of(FIGURES)[:2] == [
        "A registry node takes 100 MB, and 2.00 MB more for 1,000 schemas.",
        "Its topic takes 1.20 MB for 1,000 schemas on each replica, before compaction.",
    ]
    # tests/structure/test_references.py compares the whole page.
    assert [table(load()).count("\n") > 0 for table in TABLES.values()] == [True] * 7


def test_the_figures_ascend_and_are_of_one_day() -> None:
    figures = load()
    assert isinstance(figures, Figures)
    assert len({row.schemas for row in figures.schemas}) == len(figures.schemas) >= 2
    assert [row.schemas for row in figures.schemas] == sorted(row.schemas for row in figures.schemas)
    assert [row.instances for row in figures.instances] == sorted(row.instances for row in figures.instances)


def test_the_command_prints_a_table_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", "--schemas", "20_000", "--rps", "500"]) == 0
    table = capsys.readouterr().out
    assert table.startswith("registry    memory of a node ")
    assert f"measured on {load().date}: " in table
    assert main(["capacity", "--schemas", "20000", "--rps", "500", "--output", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["measured"]["date"] == load().date
    assert [need["unit"] for need in document["needs"]] == ["MB", "MB", "MB", "s", "s", "cores"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--schemas", "many"], "argument --schemas: 'many' is not a whole number from 0 on"),
        (["--schemas", "1.5"], "argument --schemas: '1.5' is not a whole number from 0 on"),
        (["--schemas", "-1"], "argument --schemas: '-1' is not a whole number from 0 on"),
        (["--schemas", "1", "--rps", "nan"], "argument --rps: 'nan' is not a number from 0 on"),
        (["--schemas", "1", "--records", "inf"], "argument --records: 'inf' is not a number from 0 on"),
        (["--rps", "1"], "the following arguments are required: --schemas"),
    ],
)
def test_a_wrong_number_ends_the_command(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["capacity", *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: {told}\n")
