"""One replay of dead letters, in a thread: by the rules and with the transaction of `magicbyte dead-letter`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from magicbyte.dead_letters.choice import NOT_FIXED, Choice, NotReplayed, Scruples
from magicbyte.dead_letters.kafka_clients import GROUP, KafkaClients
from magicbyte.dead_letters.letters_topic import LettersTopic
from magicbyte.dead_letters.sending import Fenced, Sender, Sent
from magicbyte.kit.errors import ApiError
from magicbyte.kit.kafka.client_settings import Config
from rest_proxy.access.rights import ProxyRights, refused
from rest_proxy.errors import CONFLICT, INVALID_PAYLOAD, KAFKA_BAD_REQUEST, KAFKA_RETRIABLE
from rest_proxy.letters.reading import read_letters
from rest_proxy.letters.request import LetterPosition, Outcome, Replay, ReplayRequest
from rest_proxy.letters.sender_rights import SchemaSight, may_see_group, missing_rights, refusal_of
from rest_proxy.settings import RestProxySettings
from serdes.client.clients import RegistryClient
from serdes.console.outcome import BAD_DATA, BAD_USAGE, Ended
from serdes.error import SerdesError
from serdes.letters.decode import LetterDecoder
from serdes.letters.fix import Fix, as_it_is, with_schema_id
from serdes.letters.letter import Letter, RecordPosition, Replayed, state_topic

#: The most bytes of the letters of a request: they are one transaction.
_MOST_BYTES = 32 << 20
#: How long letters are read and decoded, in seconds; letters that are not reached by then are `left`.
_SECONDS = 12.0
#: How long to wait for the brokers, in seconds, and the longest transaction, in ms.
_PATIENCE = 15.0
_TRANSACTION_MS, _DELIVERY_MS = 60_000, 15_000
#: Errors are returned to the sender, so librdkafka need not write them to stderr.
_QUIET: Config = {"log_level": 2}
_ERRORS = {BAD_DATA: INVALID_PAYLOAD, BAD_USAGE: KAFKA_BAD_REQUEST}

_GONE = "no such letter"
_HIDDEN = "it does not decode; you may not read its schema"


@dataclass(slots=True)
class LetterReplay:
    """Sends the letters of one request back.

    Attributes:
        request: What to do.
        clients: The configurations of the Kafka clients.
        client: The registry's client.
        rights: The sender's rights; None without rules.
        is_stopped: Whether the proxy stops.
    """

    request: ReplayRequest
    clients: KafkaClients
    client: RegistryClient
    rights: ProxyRights | None
    is_stopped: Callable[[], bool] = lambda: False
    _warnings: list[str] = field(default_factory=list)
    _sight: SchemaSight = field(init=False)

    def __post_init__(self) -> None:
        """Remember the schemas that were asked for."""
        self._sight = SchemaSight(self.client, self.rights)

    def run(self) -> Replay:
        """Decide on each letter, and send those that may be sent in one transaction.

        Raises:
            ApiError: KAFKA_AUTHORIZATION: The sender lacks a right.
            Ended: The brokers refuse or do not answer, or another replay took over: nothing was sent.
            SerdesError: The registry refuses or does not answer: nothing was sent.
        """
        request = self.request
        topic = LettersTopic(request.topic, self.clients)
        try:
            has_state_topic = bool(topic.cluster.partitions(state_topic(request.topic)))
            missing = missing_rights(self.rights, request.topic, has_state_topic=has_state_topic)
            windows = topic.windows()
            if not request.validate_only and missing:
                operation, resource_type, name = missing[0]
                raise refused(resource_type, name, operation)
            # This fences other replays, before the notes are read.
            sender = None if request.validate_only else Sender(topic)
            until = time.monotonic() + _SECONDS

            def goes_on() -> bool:
                return time.monotonic() < until and not self.is_stopped()

            letters, left = read_letters(topic, request.places, windows, most_bytes=_MOST_BYTES, goes_on=goes_on)
            choice = self._choice(topic, topic.states({letter.identity for letter in letters.values()}))
            outcomes, sent = [], list[Sent]()
            for place in request.places:
                if place in left or not goes_on():
                    outcomes.append(Outcome(place, "left"))
                    continue
                outcomes.append(self._decide(place, letters.get(place), choice, sent))
            if sender is not None and sent:
                sender.send(sent)
            return Replay(tuple(outcomes), missing, tuple(self._warnings))
        finally:
            topic.close()

    def _choice(self, topic: LettersTopic, states: dict[RecordPosition, Replayed]) -> Choice:
        scruples = Scruples(
            refusal=lambda target: refusal_of(self.rights, target),
            # A dry run comes before each replay, so only the dry run looks for other groups.
            warn=self._warnings.append if self.request.validate_only else None,
            is_visible=lambda group: may_see_group(self.rights, group),
        )
        decoder = LetterDecoder(self.client, formats=self.request.formats)
        return Choice(topic, self.request.options, scruples, self._fix(), decoder, states)

    def _fix(self) -> Fix:
        request = self.request
        if request.schema_id is None:
            return as_it_is
        return with_schema_id(request.schema_id, request.part, lambda number: self.client.schema_by_id(number).guid)

    def _decide(self, place: LetterPosition, letter: Letter | None, choice: Choice, sent: list[Sent]) -> Outcome:
        """The outcome of a letter, whose record is added to those that are sent."""
        if letter is None:
            return Outcome(place, "stays", reason=_GONE, detail="it was deleted, or there is no record at this offset")
        sight = self._sight
        number = self.request.schema_id
        if number is not None and not sight.may_see(number):
            # The same text as for an id that the registry does not have.
            return Outcome(place, "stays", reason=NOT_FIXED, detail=f"Schema {number} not found")
        try:
            chosen = choice.sent(letter)
        except NotReplayed as refusal:
            is_hidden = refusal.is_about_data and not sight.may_see_those_of(letter)
            return Outcome(place, "stays", reason=refusal.reason, detail=_HIDDEN if is_hidden else refusal.detail)
        sent.append(chosen)
        return Outcome(place, "would_be_sent" if self.request.validate_only else "sent", topic=chosen.topic)


def replay_letters(
    settings: RestProxySettings, request: ReplayRequest, rights: ProxyRights | None, is_stopping: Callable[[], bool]
) -> Replay:
    """Replay letters, on a thread of its own.

    Args:
        settings: The settings of the proxy, for the clients.
        request: What to replay.
        rights: The rights of the sender; None without rules.
        is_stopping: Whether the replay ends before its next letter.

    Raises:
        ApiError: KAFKA_AUTHORIZATION, CONFLICT or KAFKA_RETRIABLE, as for `LetterReplays.run`. Nothing was sent.
    """
    try:
        with RegistryClient(**settings.registry_client_options()) as client:
            return LetterReplay(request, _clients(settings), client, rights, is_stopping).run()
    except Ended as error:
        raise _error_of(error) from None
    except SerdesError as error:
        raise KAFKA_RETRIABLE(detail=f"The registry cannot be asked, and nothing was sent: {error}") from None


def _clients(settings: RestProxySettings) -> KafkaClients:
    # Skip the letters of aborted transactions.
    reading: Config = {
        "isolation.level": "read_committed",
        "group.id": GROUP,
        "enable.auto.commit": False,
        "fetch.wait.max.ms": 100,
        **_QUIET,
    }
    sending: Config = {"message.timeout.ms": _DELIVERY_MS, "transaction.timeout.ms": _TRANSACTION_MS, **_QUIET}
    producer = {name: value for name, value in settings.producer_config("all").items() if name != "delivery.timeout.ms"}
    return KafkaClients(
        {**settings.consumer_config(), **reading}, {**producer, **sending}, settings.admin_config(), _PATIENCE
    )


def _error_of(error: Ended) -> ApiError:
    if isinstance(error, Fenced):
        return CONFLICT(detail=str(error))
    return _ERRORS.get(error.code, KAFKA_RETRIABLE)(detail=str(error))
