"""Letters with made-up headers in `POST /ui/dead-letters` and `/ui/dead-letter`: counted, listed and shown."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from serdes.client.clients import RegistryClient
from serdes.message import wire
from tests.serdes.letters.forged import forged
from tests.serdes.letters.letter_topic import OCTOBER, VALUE, LetterTopic
from tests.ui.kit.scanned import Searched, searched
from tests.ui.letters.test_dead_letters import count, show


@pytest.fixture(scope="module")
def running(kafka: str) -> Iterator[Searched]:
    with searched(kafka) as running:
        yield running


@pytest.fixture
def desk(running: Searched) -> LetterTopic:
    return LetterTopic(running.bootstrap_servers, RegistryClient(running.registry.url), running.topic(2) + "-source")


def test_numbers_that_are_too_large_break_nothing_off(running: Searched, desk: LetterTopic) -> None:
    source, huge = desk.source.encode(), b"9" * 50
    headers = [
        forged(source, offset=huge),
        forged(source, partition=huge),
        forged(source, offset=b"2", timestamp=huge),
        forged(source, offset=b"3", schema_id=huge),
        forged(source, offset=b"4", attempt=huge),
        forged(source, offset=b"5", replay=huge),
    ]
    for number, these in enumerate(headers):
        desk.put(b"x", b"k", these, OCTOBER + number)
    end, letters = count(running, desk.letters, letters=10)
    assert (end["reason"], end["matched"], end["unreadable"], len(letters)) == ("end", 6, 0, 6)
    assert [letter["origin"] and letter["origin"]["offset"] for letter in letters] == [5, 4, 3, 2, None, None]
    where = '"offset" > 3 AND attempt IS NULL AND replays = 0'
    assert count(running, desk.letters, where=where)[0]["matched"] == 2
    for offset in range(len(headers)):
        assert show(running, desk.letters, offset)["letter"]["offset"] == offset


def test_a_list_has_short_texts(running: Searched, desk: LetterTopic) -> None:
    """Thousands of letters are listed, and each may have headers of a megabyte."""
    long = b"9" * 100_000
    headers = forged(long, quality=long, stage=long, connector=long)
    connector = [("__connect.errors.connector.name", long), ("__connect.errors.stage", long)]
    desk.put(wire.prefix(desk.register()) + VALUE, b"k", [*headers, *connector], OCTOBER)
    for by in ("reason", "topic", "schema-id", "pipeline"):
        end, (letter,) = count(running, desk.letters, letters=1, by=by)
        assert len(json.dumps([end, letter])) < 10_000, by
        (group,) = end["groups"]
        assert count(running, desk.letters, by=by, group=group["name"])[0]["matched"] == 1
    assert len(letter["origin"]["topic"]) == 300


def test_a_letter_from_a_topic_that_cannot_be_is_shown(running: Searched, desk: LetterTopic) -> None:
    schema_id = desk.register()
    for number, topic in enumerate((b"x" * 100_000, b"a\0b", b"", b"..")):
        desk.put(wire.prefix(schema_id) + VALUE, b"k", forged(topic), OCTOBER + number)
        value = show(running, desk.letters, number)["letter"]["value"]
        assert (value["schemaId"], value["decoded"]) == (str(schema_id), {"id": 7, "carrier": "UA"})
