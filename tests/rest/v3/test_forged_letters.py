"""Letters with made-up headers, replayed by the REST proxy: each stays with a reason, and holds up no others."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import NewTopic

from serdes.client.clients import RegistryClient
from serdes.letters.headers import Header
from serdes.letters.letter import state_key
from serdes.message import wire
from tests.rest.conftest import unique
from tests.rest.v3.conftest import V3
from tests.rest.v3.test_dead_letters import outcomes, places, replay
from tests.serdes.letters.forged import forged
from tests.serdes.letters.letter_topic import OCTOBER, VALUE, LetterTopic
from tests.topics import create_topics

NOWHERE = "no topic to send to"


@pytest.fixture
def desk(kafka: str, registry_url: str) -> LetterTopic:
    return LetterTopic(kafka, RegistryClient(registry_url), unique("forged"))


def test_forged_letters_stay_and_the_others_are_sent(v3: V3, desk: LetterTopic) -> None:
    good, source = wire.prefix(desk.register()) + VALUE, desk.source.encode()
    stays: list[tuple[list[Header], str]] = [
        (forged(b"a\0b"), "'a\\x00b' is no topic's name"),
        (forged(b""), "'' is no topic's name"),
        (forged(b".."), "'..' is no topic's name"),
        (forged(b"a b\n"), "'a b\\n' is no topic's name"),
        (forged(b"x" * 100_000), f"'{'x' * 100}' is no topic's name"),
        (forged(b"__consumer_offsets"), "only brokers write to topic __consumer_offsets"),
        (forged(b"__transaction_state"), "only brokers write to topic __transaction_state"),
        (forged(source, b"9" * 20), "its headers do not say which topic it came from; name one with to_topic"),
    ]
    sent = [
        forged(source, offset=b"1"),
        forged(source, offset=b"2", timestamp=b"9" * 30),
        forged(source, offset=b"3", timestamp=str(2**63 - 1).encode()),
        forged(source, offset=b"4", timestamp=b"-5"),
        forged(source, offset=b"5", schema_id=b"9" * 60),
        forged(source, offset=b"6", replay=b"-50"),
    ]
    for number, headers in enumerate([*(headers for headers, _ in stays), *sent]):
        desk.put(good, b"k", headers, OCTOBER + number)
    first = len(stays)
    for dry, outcome in ((True, "would_be_sent"), (False, "sent")):
        answer = replay(v3, desk, *range(first + len(sent)), validate_only=dry)
        assert outcomes(answer) == [
            *((offset, "stays", NOWHERE) for offset in range(first)),
            *((first + number, outcome, None) for number in range(len(sent))),
        ]
        assert [letter["detail"] for letter in answer["letters"][:first]] == [detail for _, detail in stays]
    records = desk.records()
    assert [record.timestamp()[1] for record in records] == [OCTOBER + first + number for number in range(len(sent))]
    assert {record.headers()[-1] for record in records} == {("__errors.replay", b"1")}


def test_numbers_that_are_too_long_are_no_json(v3: V3, desk: LetterTopic) -> None:
    desk.put(b"9" * 5000, b"k", forged(desk.source.encode()), OCTOBER)
    (letter,) = replay(v3, desk, 0, value_format="json")["letters"]
    assert (letter["reason"], letter["detail"]) == (
        "would fail again", "it is not JSON at byte 0: a number has too many digits"
    )  # fmt: skip


def test_a_forged_note_is_named(v3: V3, desk: LetterTopic) -> None:
    """The replay does not know what was replayed, and sends nothing."""
    desk.bury(wire.prefix(desk.register()) + VALUE, 0, stage="TASK_PUT")
    state, letters = f"{desk.letters}.state", desk.letters
    create_topics(desk.admin, NewTopic(state, 1))
    desk.letters = state
    desk.put(b"[" * 100_000, state_key((desk.source, 0, 0)), [], OCTOBER)
    desk.letters = letters
    error = replay(v3, desk, 0, status=422)
    assert error["message"].startswith(f"Payload error. topic {state}, 0:0: no state of a letter: ")
    assert desk.records() == []


def test_a_topic_whose_notes_would_have_too_long_a_name(v3: V3, desk: LetterTopic) -> None:
    letters = f"{desk.letters}-".ljust(249, "x")
    create_topics(desk.admin, NewTopic(letters, 1))
    for dry in (True, False):
        body = {"letters": places(0), "validate_only": dry}
        status, error = v3.ask("POST", f"topics/{letters}/dead-letters:replay", body)
        assert (status, error["message"]) == (
            400, f"Its notes would need a topic {letters}.state; that name is too long"
        )  # fmt: skip
