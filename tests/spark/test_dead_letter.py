from __future__ import annotations

from magicbyte.kit.kafka.dead_letter import MAX_STACKTRACE, DeadLetter, original_headers, read_headers


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


def test_the_last_failure_counts_and_the_records_own_headers_are_kept() -> None:
    headers = [("own", b"1"), ("__connect.errors.stage", b"TASK_POLL"), ("__connect.errors.stage", b"TASK_PUT")]
    assert read_headers(headers) == {"stage": "TASK_PUT"}
    assert original_headers(headers) == [("own", b"1")]
