"""Replaying the dead letters of a topic, by the rules of `magicbyte dead-letter`; ours, beyond the reference."""

from __future__ import annotations

from magicbyte.dead_letters.options import MAX_ATTEMPTS, ReplayOptions
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.response import Json
from magicbyte.kit.kafka.client_settings import may_be_topic
from rest_proxy.access.decisions import require_topics
from rest_proxy.admin import topics
from rest_proxy.errors import INVALID_PAYLOAD, KAFKA_BAD_REQUEST
from rest_proxy.exchange.parts import part_of
from rest_proxy.letters.request import MOST_LETTERS, LetterPosition, Outcome, ReplayRequest
from rest_proxy.letters.running_replays import LetterReplays
from rest_proxy.settings import RestProxySettings
from rest_proxy.v3 import models
from rest_proxy.v3.call import ClusterCall
from rest_proxy.v3.envelopes import answer, item
from rest_proxy.v3.models.requests import DeadLetterReplay
from rest_proxy.v3.parameters.bodies import DeadLetterReplayBody
from rest_proxy.v3.parameters.paths import TopicFirst
from serdes.letters.letter import state_topic
from serdes.letters.parts import AUTO

_MOST_ATTEMPTS = 100


async def replay(
    call: ClusterCall, *, topic: TopicFirst, body: DeadLetterReplayBody
) -> Json[models.KafkaDeadLetterReplay]:
    """Send dead letters back, decoded first and each once, or only tell what would be sent.

    The records and the notes that they were sent are one transaction.
    """
    request = _request(topic, body)
    # The notes tell which letters were replayed, and where to.
    require_topics(call.request, "READ", state_topic(topic))
    await topics.topic(await call.admin(), topic)
    if not may_be_topic(state_topic(topic)):
        raise KAFKA_BAD_REQUEST(detail=f"Its notes would need a topic {state_topic(topic)}; that name is too long")
    if not part_of(call.request, RestProxySettings).schema_registry_url.strip():
        raise KAFKA_BAD_REQUEST(detail="Letters are decoded before they are sent: set schema.registry.url")
    client = client_key(call.request, call.settings.trusted_proxies)
    done = await part_of(call.request, LetterReplays).run(request, call.rights, client)
    url = call.links.url("topics", topic, "dead-letters:replay")
    fields = {
        "cluster_id": call.cluster_id,
        "topic_name": topic,
        "validate_only": request.validate_only,
        "letters": [_letter(outcome) for outcome in done.outcomes],
        "missing_rights": [
            {"operation": operation, "resource_type": resource_type, "resource_name": name}
            for operation, resource_type, name in done.missing
        ],
        "warnings": list(done.warnings),
    }
    return answer(item("KafkaDeadLetterReplay", url, call.links.crn(("topic", topic)), fields))


def _request(topic: str, body: DeadLetterReplay) -> ReplayRequest:
    """Return the replay request of a body.

    Raises:
        ApiError: INVALID_PAYLOAD: the body asks for what cannot be done; the text names the member.
    """
    if not 1 <= len(body.letters) <= MOST_LETTERS:
        raise INVALID_PAYLOAD(detail=f"letters: there are {len(body.letters)}; from 1 to {MOST_LETTERS} are replayed")
    places: dict[LetterPosition, None] = {}
    for index, letter in enumerate(body.letters):
        place = LetterPosition(letter.partition_id, letter.offset)
        if min(place) < 0:
            raise INVALID_PAYLOAD(detail=f"letters[{index}]: {place.partition}:{place.offset} has a negative number")
        places[place] = None
    to_topic = None if body.to_topic is None else str(body.to_topic)
    if to_topic is not None and not may_be_topic(to_topic):
        raise INVALID_PAYLOAD(detail=f"to_topic: {to_topic[:100]!r} is no topic's name")
    if body.schema_id is not None and body.schema_id < 0:
        raise INVALID_PAYLOAD(detail=f"schema_id: {body.schema_id} is negative")
    attempts = MAX_ATTEMPTS if body.max_attempts is None else body.max_attempts
    if not 1 <= attempts <= _MOST_ATTEMPTS:
        raise INVALID_PAYLOAD(detail=f"max_attempts: {attempts} is not from 1 to {_MOST_ATTEMPTS}")
    return ReplayRequest(
        topic,
        tuple(places),
        ReplayOptions(to_topic, again=bool(body.again), max_attempts=attempts, are_flags=False),
        body.schema_id,
        body.part or "value",
        {"key": body.key_format or AUTO, "value": body.value_format or AUTO},
        bool(body.validate_only),
    )


def _letter(outcome: Outcome) -> dict[str, object]:
    return {
        "partition_id": outcome.place.partition,
        "offset": outcome.place.offset,
        "outcome": outcome.outcome,
        "topic_name": outcome.topic,
        "reason": outcome.reason,
        "detail": outcome.detail,
    }
