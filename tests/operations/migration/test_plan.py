"""The plan: each command is one that its own parser takes, and the steps are in order."""

from __future__ import annotations

import shlex

import pytest

from magicbyte.cli.parsers import parsers
from magicbyte.operations.migration.plan import Plan, Situation, make_plan

PARSERS = parsers()
NAMED = Situation("axonops", "http://old:1", "http://new:2", ("t",), "b:9", ("a.properties",), ("b.properties",))
TAKEOVER = Situation("", "kafka:b:9/_schemas", topics=("t",))


def commands(plan: Plan) -> list[str]:
    """All commands of a plan."""
    return [command for step in (*plan.steps, *plan.rollback) for command in step.commands]


@pytest.mark.parametrize("situation", [NAMED, TAKEOVER, Situation("karapace", "http://old:1")])
def test_each_command_is_one(situation: Situation) -> None:
    for command in commands(make_plan(situation)):
        words = shlex.split(command)
        name = " ".join(words[:2])
        if name == "magicbyte mirror" and name not in PARSERS:
            continue
        if words[0] == "magicbyte":
            PARSERS[name].parse_args(words[2:])


def test_a_copy_by_the_api_names_the_files_of_both_ends() -> None:
    assert commands(make_plan(NAMED)) == [
        "magicbyte backup http://old:1 -o origin.ndjson.zst --config a.properties",
        "magicbyte restore origin.ndjson.zst --to http://new:2 --to-config b.properties",
        "magicbyte mirror --from http://old:1 --to http://new:2 --from-config a.properties --to-config b.properties",
        "curl -f -X PUT -H 'Content-Type: application/json' -d '{\"mode\": \"READONLY\"}' http://old:1/mode",
        "magicbyte diff http://old:1 http://new:2 --ignore mode,ts --config a.properties --other-config b.properties",
        "magicbyte ids t --bootstrap-servers b:9 --schema-registry-url http://new:2 --fail-unknown",
        "magicbyte dr promote --to http://new:2 --from http://old:1 --id-gap 0 --from-config a.properties "
        "--to-config b.properties",
        "curl -f -X PUT -H 'Content-Type: application/json' -d '{\"mode\": \"READWRITE\"}' http://old:1/mode",
        "magicbyte backup http://new:2 -o after.ndjson.zst --config b.properties",
        "magicbyte restore after.ndjson.zst --to http://old:1 --to-config a.properties --dry-run",
        "magicbyte restore after.ndjson.zst --to http://old:1 --to-config a.properties",
    ]


def test_a_takeover_stops_theirs_before_ours_starts() -> None:
    plan = make_plan(TAKEOVER)
    texts = [step.text for step in plan.steps]
    assert texts.index("Start ours on the topic, with the other registry's settings if they are Confluent's") == 3
    assert texts[2].startswith("Stop ALL nodes")
    assert plan.rollback[0].text == "Stop all of our nodes"
