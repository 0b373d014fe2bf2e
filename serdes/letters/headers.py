"""The headers of dead letters: records that could not be processed, kept unchanged, with headers that say why.

Each form has a row in FORMS: Kafka Connect's, Kafka Streams', Spring's, and that of Kafka's share groups. We write
Connect's by default (`errors.deadletterqueue.context.headers.enable`). Headers stand after the record's original ones;
if a record failed twice, the last ones count. Our additional headers begin with `__errors.` in every form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

CONNECT = "__connect.errors."
OWN = "__errors."
RULE = "__rule."
#: How many times a record was replayed; the only header that `magicbyte dead-letter replay` adds.
REPLAY = f"{OWN}replay"
#: Marks a letter without the record's key, value and headers.
MASKED = f"{OWN}masked"

#: Longest text of a stack trace, in bytes: brokers refuse large headers.
MAX_STACKTRACE = 16 * 1024

KEY_CONVERTER = "KEY_CONVERTER"
VALUE_CONVERTER = "VALUE_CONVERTER"
TRANSFORMATION = "TRANSFORMATION"
TASK_PUT = "TASK_PUT"

#: The stages that Connect names.
STAGES = (
    "TASK_POLL",
    TASK_PUT,
    TRANSFORMATION,
    KEY_CONVERTER,
    VALUE_CONVERTER,
    "HEADER_CONVERTER",
    "KAFKA_PRODUCE",
    "KAFKA_CONSUME",
)

Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """The reason why a record was not processed. A form may lack a header for an attribute, which is then None.

    Attributes:
        topic, partition, offset: Where the record was read from.
        connector: The application, pipeline or consumer group that gave up.
        stage: The stage that failed, one of STAGES.
        executing: The qualified name of the class or function that failed.
        task: The connector's instance, from 0.
        exception: The error's class, if there was one.
        message: The error's text.
        stacktrace: The error's stack trace.
        schema_id: The id in the record's prefix; None if a header names the schema by guid, or nothing does.
        subject: The subject in which the schema was looked up.
        timestamp: The record's own timestamp in milliseconds since 1970.
        attempt: How many times the record was tried.
        batch: The batch of the pipeline, such as `1f3a9c02-17`.
        quality: The quality checks that the record failed, separated by `; `.
        masked: Whether the letter has neither the record's key nor its value, nor its headers.
    """

    topic: str
    partition: int
    offset: int
    connector: str | None = None
    stage: str | None = None
    executing: str | None = None
    task: int | None = None
    exception: str | None = None
    message: str | None = None
    stacktrace: str | None = None
    schema_id: int | None = None
    subject: str | None = None
    timestamp: int | None = None
    attempt: int | None = None
    batch: str | None = None
    quality: str | None = None
    masked: bool = False

    def headers(self, form: HeaderForm | None = None) -> list[Header]:
        """Return the headers to append to the record's headers, in Connect's form or another.

        Attributes that are None are left out. Some forms lack a header that we need; it then stands under our own name.
        """
        form = FORMS["connect"] if form is None else form
        written = replace(self, task=self.task or 0, stacktrace=self.stacktrace or "")
        headers: list[Header] = []
        for attribute, name in form.names.items():
            value = getattr(written, attribute)
            # A failure without an exception has neither text; Connect writes a null if the exception has no message.
            is_text = attribute in {"message", "stacktrace"}
            if self.exception is not None if is_text else value is not None:
                headers.append((name, form.encode(attribute, value)))
        for attribute, name in OWN_NAMES.items():
            value = getattr(self, attribute)
            if value is not None and attribute not in form.names:
                headers.append((OWN + name, str(value).encode()))
        if self.masked:
            headers.append((MASKED, b"true"))
        return headers


@dataclass(frozen=True, slots=True)
class HeaderForm:
    """A convention for the headers of dead letters.

    Attributes:
        names: By attribute of DeadLetter the header's name, in the order in which they are written.
        added: The beginnings of the names of all headers that are not the record's own.
        sizes: By attribute the size in bytes of a number that is no text, but a big-endian integer.
        key_exception: The header that only a record has whose key could not be deserialized.
        constants: By attribute the value that the form has no header for.
    """

    names: Mapping[str, str]
    added: tuple[str, ...]
    sizes: Mapping[str, int]
    key_exception: str | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)

    def encode(self, attribute: str, value: Any) -> bytes | None:
        """Return the bytes of a header."""
        if value is None:
            return None
        if attribute in self.sizes:
            return int(value).to_bytes(self.sizes[attribute], "big", signed=True)
        return str(value).encode()[:MAX_STACKTRACE].decode("utf-8", "ignore").encode()

    def decode(self, attribute: str, value: bytes | None) -> str | None:
        """Return a header's text; a binary number as decimal digits."""
        if value is None:
            return None
        if attribute in self.sizes and len(value) == self.sizes[attribute]:
            return str(int.from_bytes(value, "big", signed=True))
        return value.decode("utf-8", "replace")


def _named(prefix: str, names: Sequence[str], **others: str) -> dict[str, str]:
    return {name: prefix + name for name in names} | {name: prefix + other for name, other in others.items()}


_PLACE = ("topic", "partition", "offset")

#: By the names that `errors.headers` of a pipeline takes, and two that we only read: `share-group`, and `rules`, which
#: the action DLQ of a schema's rules writes. The headers of `rules` stay when a record is sent back: its consumers skip
#: the rule that they name.
FORMS: Mapping[str, HeaderForm] = {
    "connect": HeaderForm(
        _named(
            CONNECT,
            _PLACE,
            connector="connector.name",
            task="task.id",
            stage="stage",
            executing="class.name",
            exception="exception.class.name",
            message="exception.message",
            stacktrace="exception.stacktrace",
        ),
        (CONNECT,),
        {},
    ),
    "streams": HeaderForm(
        _named("__streams.errors.", ("exception", "message", "stacktrace", *_PLACE)), ("__streams.errors.",), {}
    ),
    "spring": HeaderForm(
        _named(
            "kafka_dlt-",
            (),
            topic="original-topic",
            partition="original-partition",
            offset="original-offset",
            timestamp="original-timestamp",
            connector="original-consumer-group",
            exception="exception-fqcn",
            message="exception-message",
            stacktrace="exception-stacktrace",
        ),
        # Spring's error-handling deserializer and its retry topics add headers of their own.
        ("kafka_dlt-", "kafka_original-", "kafka_exception-", "springDeserializerException", "retry_topic-"),
        {"partition": 4, "offset": 8, "timestamp": 8},
        "kafka_dlt-key-exception-fqcn",
    ),
    "share-group": HeaderForm(
        _named("__dlq.errors.", (*_PLACE, "message"), connector="group", attempt="delivery.count"),
        ("__dlq.errors.",),
        {},
    ),
    "rules": HeaderForm(
        _named(RULE, ("topic", "subject"), executing="name", message="exception"),
        (),
        {},
        # A value that a serializer stopped is no frame, so that it is not sent back as it is.
        constants={"partition": -1, "offset": -1, "stage": VALUE_CONVERTER},
    ),
}

#: By attribute the name of our header, without OWN, if the form has none.
OWN_NAMES = {
    "stage": "stage",
    "connector": "connector",
    "schema_id": "schema.id",
    "subject": "schema.subject",
    "timestamp": "timestamp",
    "attempt": "attempt",
    "batch": "batch",
    "quality": "quality",
}
_NUMBERS = frozenset(("partition", "offset", "task", "schema_id", "timestamp", "attempt"))
_ADDED = (OWN, *(prefix for form in FORMS.values() for prefix in form.added))


def form_of(headers: Iterable[Header]) -> str | None:
    """Return the name of the form in which a record was last dead-lettered; None if it is no dead letter."""
    by_header = {form.names["topic"]: name for name, form in FORMS.items()}
    return next((by_header[name] for name, _ in reversed(list(headers)) if name in by_header), None)


def read_letter(headers: Iterable[Header]) -> DeadLetter | None:
    """Return why a record was dead-lettered, by the headers of the form that was used last; None if it has none.

    A number that is none is None; a place that is none makes the record no dead letter.
    """
    pairs = list(headers)
    name = form_of(pairs)
    if name is None:
        return None
    form = FORMS[name]
    last = dict(pairs)
    texts = {attribute: form.decode(attribute, last.get(header)) for attribute, header in form.names.items()}
    for attribute, header in OWN_NAMES.items():
        if attribute not in form.names and (value := last.get(OWN + header)) is not None:
            texts[attribute] = value.decode("utf-8", "replace")
    if form.key_exception is not None and form.key_exception in last:
        texts["stage"] = KEY_CONVERTER
    values: dict[str, Any] = {
        attribute: _number(text) if attribute in _NUMBERS else text for attribute, text in texts.items()
    }
    values |= form.constants
    if any(values[attribute] is None for attribute in _PLACE):
        return None
    return DeadLetter(**values, masked=last.get(MASKED) == b"true")


def replays(headers: Iterable[Header]) -> int:
    """Return how many times a record was replayed before it became this dead letter."""
    value = dict(headers).get(REPLAY)
    number = None if value is None else _number(value.decode("utf-8", "replace"))
    # Anybody who writes letters may write this header; a negative number would allow more replays.
    return max(0, number or 0)


def original_headers(headers: Iterable[Header]) -> list[Header]:
    """Return the headers that the record had before it failed, to send it back with."""
    return [(name, value) for name, value in headers if not name.startswith(_ADDED)]


def _number(text: str | None) -> int | None:
    """The number in a text; None for no number, or for one that is too large for every number of Kafka's."""
    try:
        number = None if text is None else int(text)
    except ValueError:
        return None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def rule_headers(error: BaseException | None, topic: str) -> list[Header]:
    """The headers that name a rule, as the action DLQ writes them, if a rule stopped the record.

    A consumer skips the rule that they name, so that a record can be sent back once it was looked at.

    Args:
        error: The error of the record.
        topic: The topic that it was read from, or was for.
    """
    rule, mode = getattr(error, "rule", None), getattr(error, "mode", None)
    if not isinstance(rule, str) or not isinstance(mode, str):
        return []
    subject = getattr(error, "subject", None) or ""
    values = {"name": rule, "mode": mode, "subject": subject, "topic": topic, "exception": str(error)}
    # The text of an error may have half of a surrogate pair.
    return [(f"{RULE}{name}", value.encode("utf-8", "backslashreplace")) for name, value in values.items()]
