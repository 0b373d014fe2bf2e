"""Takeovers of a topic that another registry wrote: the records of Confluent's format and of Karapace's, made by hand.

Neither server can be run here. So the way back is judged by a reader that does what theirs do: it passes over keys of
types that it does not know, and keeps the last value of each key.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_registry, temporary_broker
from tests.peers import readers
from tests.peers.made_registry import LEVELS, REGISTRATIONS

Expect = Callable[[str, object, object], None]
#: The order of the fields of a key, by vendor.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "confluent": ("keytype", "subject", "version", "magic"),
    "karapace": ("subject", "version", "magic", "keytype"),
}
_TYPES = {"SCHEMA", "CONFIG", "MODE", "NOOP", "DELETE_SUBJECT", "CLEAR_SUBJECT", "CONTEXT"}


def _dumps(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def made_log(vendor: str) -> list[tuple[bytes, bytes | None]]:
    """The made registry as a vendor writes it: `gone-value` and version 1 of `seen-value` are soft-deleted."""
    log: list[tuple[bytes, bytes | None]] = []
    if vendor == "confluent":
        log.append((_dumps({"keytype": "NOOP", "magic": 0}), None))
    for subject, level in LEVELS.items():
        key = {"keytype": "CONFIG", "subject": subject, "magic": 0}
        log.append((_dumps(key), _dumps({"subject": subject, "compatibilityLevel": level})))
    ids: dict[str, int] = {}
    numbers: dict[str, int] = {}
    for subject, body in REGISTRATIONS:
        numbers[subject] = number = numbers.get(subject, 0) + 1
        schema_id = ids.setdefault(json.dumps(body, sort_keys=True), len(ids) + 1)
        key = {"keytype": "SCHEMA", "subject": subject, "version": number, "magic": 1}
        value = {"subject": subject, "version": number, "id": schema_id, **body, "deleted": False}
        raw = _dumps({name: key[name] for name in _KEYS[vendor]})
        log.append((raw, _dumps(value)))
        if subject == "gone-value" or (subject, number) == ("seen-value", 1):
            log.append((raw, _dumps({**value, "deleted": True})))
    return log


def their_state(kafka: str, topic: str) -> dict[str, Any]:
    """The state that their readers would keep: (subject, version) -> id, text and deletion; the levels."""
    consumer = Consumer(
        {"bootstrap.servers": kafka, "group.id": str(uuid.uuid4()), "isolation.level": "read_committed"}
    )
    end = consumer.get_watermark_offsets(TopicPartition(topic, 0))[1]
    consumer.assign([TopicPartition(topic, 0, 0)])
    state: dict[str, Any] = {}
    while consumer.position([TopicPartition(topic, 0)])[0].offset < end:
        message = consumer.poll(1)
        if message is None or message.error() is not None:
            continue
        key = json.loads(message.key() or b"{}")
        if key.get("keytype") not in _TYPES - {"NOOP"}:
            continue
        place = f"{key['keytype']} {key.get('subject')} {key.get('version', '')}".strip()
        value = message.value()
        if value is None:
            state.pop(place, None)
        elif key["keytype"] == "SCHEMA":
            shown = json.loads(value)
            state[place] = (shown["id"], shown["schema"], shown["deleted"])
        else:
            state[place] = json.loads(value).get("compatibilityLevel")
    consumer.close()
    return state


def _take_over(vendor: str, expect: Expect, magicbyte: Callable[..., Any], folder: Path) -> None:
    with temporary_broker() as broker:
        kafka = broker.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": kafka})
        admin.create_topics([NewTopic("_schemas", 1, 1, config={"cleanup.policy": "compact"})])["_schemas"].result()
        producer = Producer({"bootstrap.servers": kafka})
        for key, value in made_log(vendor):
            producer.produce("_schemas", key=key, value=value)
        producer.flush()
        before = their_state(kafka, "_schemas")
        raw = folder / f"{vendor}.ndjson"
        place = f"kafka:{kafka}"
        expect(f"{vendor}: raw backup", magicbyte("backup", place, "--format", "raw", "-o", raw).returncode, 0)
        with running_registry("kafka:", bootstrap_servers=kafka) as ours:
            compared = magicbyte("diff", raw, ours.url, "--ignore", "marks")
            expect(
                f"{vendor}: ours has what the topic had", (compared.returncode, compared.stdout), (0, compared.stdout)
            )
            written = readers.write(ours.url)
            expect(f"{vendor}: Confluent's readers", readers.unread(ours.url, written), [])
            answer = httpx.post(
                f"{ours.url}/subjects/new-value/versions", json={"schema": '"bytes"'}, timeout=60
            ).json()
            highest = max(entry[0] for entry in before.values() if isinstance(entry, tuple))
            expect(f"{vendor}: a new id is above all", answer["id"] > highest, True)
        after = their_state(kafka, "_schemas")
        new = {"SCHEMA new-value 1": (answer["id"], '"bytes"', False)}
        expect(f"{vendor}: the way back: their reader finds all, and what was registered", after, before | new)


def take_over_confluent(expect: Expect, magicbyte: Callable[..., Any], folder: Path) -> None:
    """Ours on a topic of Confluent's format, and back."""
    _take_over("confluent", expect, magicbyte, folder)


def take_over_karapace(expect: Expect, magicbyte: Callable[..., Any], folder: Path) -> None:
    """Ours on a topic of Karapace's format, and back."""
    _take_over("karapace", expect, magicbyte, folder)


TAKEOVERS = (take_over_confluent, take_over_karapace)
