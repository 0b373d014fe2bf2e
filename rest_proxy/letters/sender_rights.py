"""The rights that a replay of dead letters needs: those that Kafka would ask for if the sender ran the command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from magicbyte.dead_letters.kafka_clients import transactional_id
from rest_proxy.access.rights import ProxyRights
from rest_proxy.formats.schema_reading import SchemaId, subjects_of
from serdes.client.clients import RegistryClient
from serdes.error import SchemaNotFound, SerializationError
from serdes.letters.letter import Letter, state_topic
from serdes.letters.parts import PARTS
from serdes.message import wire

#: Operation, resource type and name.
Right = tuple[str, str, str]


def missing_rights(rights: ProxyRights | None, topic: str, *, has_state_topic: bool) -> tuple[Right, ...]:
    """The rights that a sender lacks to replay letters of a topic, besides those on the target topics.

    Args:
        rights: The sender's rights; None without rules.
        topic: The topic of dead letters.
        has_state_topic: Whether the topic of its notes exists.
    """
    if rights is None:
        return ()
    state = state_topic(topic)
    needed = [("WRITE", "TOPIC", state), ("WRITE", "TRANSACTIONAL_ID", transactional_id(topic))]
    missing = [right for right in needed if not rights.may(*right)]
    if not has_state_topic and not rights.may_create(state):
        missing.append(("CREATE", "TOPIC", state))
    return tuple(missing)


def refusal_of(rights: ProxyRights | None, topic: str) -> str | None:
    """Return the reason why a sender may send nothing to a topic; None if the sender may."""
    if rights is None or rights.may("WRITE", "TOPIC", topic):
        return None
    return f"you may not write to topic {topic}: WRITE on it is missing"


def may_see_group(rights: ProxyRights | None, group: str) -> bool:
    """Whether a sender may know of a consumer group."""
    return rights is None or rights.may("DESCRIBE", "GROUP", group)


@dataclass(slots=True)
class SchemaSight:
    """The schemas that a sender may see: those with a subject that the sender may read, as in produce requests.

    Attributes:
        client: The registry's client, which may read all of them.
        rights: The sender's rights; None without rules.
    """

    client: RegistryClient
    rights: ProxyRights | None
    _seen: dict[SchemaId, bool] = field(default_factory=dict)

    def may_see(self, schema: SchemaId) -> bool:
        """Whether the sender may see the schema of an id or guid.

        Raises:
            SerdesError: The registry refuses or does not answer.
        """
        rights = self.rights
        if rights is None:
            return True
        if schema not in self._seen:
            self._seen[schema] = any(rights.may("READ", "SUBJECT", subject) for subject in self._subjects(schema))
        return self._seen[schema]

    def may_see_those_of(self, letter: Letter) -> bool:
        """Whether the sender may see the schemas that the key and value of a letter name.

        Raises:
            SerdesError: As `may_see`.
        """
        return all(self.may_see(schema) for schema in _schemas_of(letter))

    def _subjects(self, schema: SchemaId) -> list[str]:
        try:
            return self.client.drive(subjects_of(schema, self.client.endpoints))
        except SchemaNotFound:
            return []


def _schemas_of(letter: Letter) -> Iterator[SchemaId]:
    for part in PARTS:
        data: bytes | None = getattr(letter, part)
        if data is None:
            continue
        try:
            frame = wire.read_dual(data, letter.original_headers, is_key=part == "key")
        except SerializationError:
            continue
        named = frame.guid if frame.schema_id is None else frame.schema_id
        if named is not None:
            yield named
