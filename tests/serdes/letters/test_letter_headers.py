from __future__ import annotations

import pytest

from serdes.letters.headers import (
    FORMS,
    MAX_STACKTRACE,
    DeadLetter,
    original_headers,
    read_letter,
    replays,
    rule_headers,
)


def test_headers_are_connects() -> None:
    letter = DeadLetter(
        "flights", 3, 42, connector="app", stage="VALUE_CONVERTER", executing="serdes.AvroDeserializer", task=1,
        exception="serdes.error.WrongMagic", message="unknown magic byte 9", stacktrace="at x", schema_id=7,
        subject="flights-value",
    )  # fmt: skip
    assert letter.headers() == [
        ("__connect.errors.topic", b"flights"),
        ("__connect.errors.partition", b"3"),
        ("__connect.errors.offset", b"42"),
        ("__connect.errors.connector.name", b"app"),
        ("__connect.errors.task.id", b"1"),
        ("__connect.errors.stage", b"VALUE_CONVERTER"),
        ("__connect.errors.class.name", b"serdes.AvroDeserializer"),
        ("__connect.errors.exception.class.name", b"serdes.error.WrongMagic"),
        ("__connect.errors.exception.message", b"unknown magic byte 9"),
        ("__connect.errors.exception.stacktrace", b"at x"),
        ("__errors.schema.id", b"7"),
        ("__errors.schema.subject", b"flights-value"),
    ]


def test_an_exception_without_a_message_and_no_exception() -> None:
    place = {"topic": "t", "partition": 0, "offset": 0, "connector": "a", "stage": "TASK_PUT", "executing": "c"}
    silent = dict(DeadLetter(**place, exception="E").headers())
    assert silent["__connect.errors.exception.message"] is None
    assert not [name for name, _ in DeadLetter(**place).headers() if "exception" in name]
    long = DeadLetter(**place, exception="E", message="m", stacktrace="\u20ac" * MAX_STACKTRACE).headers()
    assert len(dict(long)["__connect.errors.exception.stacktrace"] or b"") == MAX_STACKTRACE // 3 * 3


PLACE = [("__connect.errors.topic", b"t"), ("__connect.errors.partition", b"1"), ("__connect.errors.offset", b"2")]


def test_the_last_failure_counts_and_the_records_own_headers_are_kept() -> None:
    headers = [("own", b"1"), *PLACE, ("__connect.errors.stage", b"TASK_POLL"), ("__connect.errors.stage", b"TASK_PUT")]
    assert read_letter(headers) == DeadLetter("t", 1, 2, stage="TASK_PUT")
    assert original_headers(headers) == [("own", b"1")]


@pytest.mark.parametrize("name", ["connect", "streams", "spring"])
def test_a_letter_in_each_form_is_read_as_it_was_written(name: str) -> None:
    letter = DeadLetter(
        "flights", 3, 2**40, connector="app", stage="TASK_PUT", exception="serdes.error.WrongMagic", message="no\u20ac",
        stacktrace="at x", schema_id=7, subject="flights-value", timestamp=1_767_225_600_000, attempt=2, batch="1f-17",
        quality="delay in range; key", masked=True,
    )  # fmt: skip
    headers = letter.headers(FORMS[name])
    read = read_letter([("own", b"x"), *headers])
    assert read is not None
    assert {**vars_of(read), "task": None} == vars_of(letter)
    assert original_headers([("own", b"x"), *headers]) == [("own", b"x")]


def vars_of(letter: DeadLetter) -> dict[str, object]:
    return {name: getattr(letter, name) for name in DeadLetter.__slots__}


def test_springs_numbers_are_binary_and_its_key_errors_have_a_stage() -> None:
    headers: list[tuple[str, bytes | None]] = [
        ("kafka_dlt-original-topic", b"orders"),
        ("kafka_dlt-original-partition", b"\0\0\0\x05"),
        ("kafka_dlt-original-offset", b"\0\0\0\0\0\0\x01\0"),
        ("kafka_dlt-original-timestamp", (1_767_225_600_000).to_bytes(8, "big")),
        ("kafka_dlt-original-consumer-group", b"shop"),
        ("kafka_dlt-key-exception-fqcn", b"DeserializationException"),
        ("kafka_dlt-exception-fqcn", b"org.springframework.kafka.support.serializer.DeserializationException"),
        ("kafka_dlt-exception-message", b"failed"),
        ("springDeserializerExceptionKey", b"\xac\xed"),
    ]
    assert read_letter(headers) == DeadLetter(
        "orders", 5, 256, connector="shop", stage="KEY_CONVERTER", timestamp=1_767_225_600_000, message="failed",
        exception="org.springframework.kafka.support.serializer.DeserializationException",
    )  # fmt: skip
    assert original_headers(headers) == []


def test_a_letter_of_a_letter_has_the_form_that_came_last() -> None:
    values = {"topic": b"s", "partition": b"0", "offset": b"9"}
    streams = [(f"__streams.errors.{name}", value) for name, value in values.items()]
    share = [("__dlq.errors.topic", b"q"), ("__dlq.errors.partition", b"1"), ("__dlq.errors.offset", b"3")]
    share += [("__dlq.errors.group", b"g"), ("__dlq.errors.delivery.count", b"5")]
    assert read_letter([*PLACE, *streams]) == DeadLetter("s", 0, 9)
    assert read_letter([*streams, *PLACE]) == DeadLetter("t", 1, 2)
    assert read_letter([*PLACE, *share]) == DeadLetter("q", 1, 3, connector="g", attempt=5)
    assert original_headers([*PLACE, *streams, *share]) == []


def test_foreign_records_and_the_count_of_replays() -> None:
    assert read_letter([("own", b"1")]) is None
    assert read_letter([*PLACE[:2], ("__connect.errors.offset", b"many")]) is None
    assert replays([("__errors.replay", b"1"), ("__errors.replay", b"2")]) == 2
    assert (replays([]), replays([("__errors.replay", b"x")]), replays([("__errors.replay", None)])) == (0, 0, 0)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("__connect.errors.partition", None),
        ("__connect.errors.offset", None),
        ("__errors.timestamp", DeadLetter("t", 1, 2)),
        ("__errors.schema.id", DeadLetter("t", 1, 2)),
        ("__errors.attempt", DeadLetter("t", 1, 2)),
    ],
)
def test_a_number_that_is_too_large_is_none(header: str, expected: DeadLetter | None) -> None:
    """JSON, SQLite and Kafka have no such numbers."""
    for number in (2**63, -(2**63) - 1, 10**50):
        assert read_letter([*PLACE, (header, str(number).encode())]) == expected
    assert read_letter([*PLACE, ("__errors.timestamp", str(2**63 - 1).encode())]) is not None


@pytest.mark.parametrize(("value", "count"), [(b"-50", 0), (b"9" * 50, 0), (b"7", 7)])
def test_a_forged_count_allows_no_more_replays(value: bytes, count: int) -> None:
    assert replays([("__errors.replay", value)]) == count


def test_the_text_of_a_rule_may_have_half_of_a_surrogate_pair() -> None:
    error = ValueError("\ud800")
    error.rule, error.mode, error.subject = "check", "WRITE", None  # type: ignore[attr-defined]
    assert rule_headers(error, "people") == [
        ("__rule.name", b"check"),
        ("__rule.mode", b"WRITE"),
        ("__rule.subject", b""),
        ("__rule.topic", b"people"),
        ("__rule.exception", b"\\ud800"),
    ]
