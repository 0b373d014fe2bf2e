"""`POST /ui/dead-letters` and `POST /ui/dead-letter`: letters of a topic, and one letter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import msgspec
import orjson
from starlette.responses import Response

from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.ui import errors
from magicbyte.ui.decode import MessageWorkers, unless_gone
from magicbyte.ui.letters.counting import Counting
from magicbyte.ui.letters.notes import read_note, read_notes
from magicbyte.ui.letters.sorting import Sorting
from magicbyte.ui.messages.exchange import Outcome, Task
from magicbyte.ui.messages.letter_request import LetterRequest, LettersRequest, ShowRequest
from magicbyte.ui.messages.scan_request import ScanRequest
from magicbyte.ui.request_body import read_request
from magicbyte.ui.rest import Upstream
from magicbyte.ui.scan.range import range_of
from magicbyte.ui.scan.source import TopicSource
from magicbyte.ui.scan.turns import Turns, limits_of
from serdes.letters.letter import state_topic

#: The most letters of a count: each is remembered by two numbers, to count it once.
_MOST_COUNTED = 200_000
#: The largest block that has a single letter.
_LETTER_BYTES = 1 << 20


class DeadLetters:
    """Topics of dead letters behind the REST proxy."""

    def __init__(self, rest: Upstream, workers: MessageWorkers, settings: PageSettings) -> None:
        """Prepare; nothing is read yet.

        Args:
            rest: The REST proxy.
            workers: The worker processes.
            settings: The limits of a search.
        """
        self._rest = rest
        self._workers = workers
        self._settings = settings
        self._turns = Turns(settings)

    def close(self) -> None:
        """Refuse the requests that wait."""
        self._turns.close()

    async def count(self, request: Request) -> Response:
        """Answer with the lines of a count.

        Raises:
            ApiError: 400 for a body that is no such request, 429 if too many counts run, or the REST proxy's refusal.
            ClientDisconnect: The client has gone.
        """
        wanted = await read_request(request, LettersRequest)
        client = client_key(request, self._settings.trusted_proxies)
        counting = await unless_gone(request.receive, self._begun(request, wanted, client))
        return self._turns.answer(client, _lines(counting))

    async def show(self, request: Request) -> Response:
        """Answer with one letter.

        Raises:
            ApiError: 400 for a body that is no such request, 404 if there is no such letter, or a refusal.
            ClientDisconnect: The client has gone.
        """
        wanted = await read_request(request, LetterRequest)
        client = client_key(request, self._settings.trusted_proxies)
        await self._turns.take(client)
        try:
            return await unless_gone(request.receive, self._shown(request, wanted, client))
        finally:
            self._turns.give_back(client)

    async def _begun(self, request: Request, wanted: LettersRequest, client: str) -> Counting:
        """Take a place and find the offsets, so that a refusal of the proxy is the answer's status."""
        await self._turns.take(client)
        try:
            self._workers.warm_up()
            source = self._source(request, wanted.topic or "")
            # Letters have the times of their records, which need not increase: an end by time would leave some out.
            ranges = await range_of(source, ScanRequest(topic=wanted.topic, since=wanted.since))
            source.require_headers()
            limits = limits_of(self._settings)
            limits = replace(limits, records=min(limits.records, _MOST_COUNTED))
            sorting = Sorting(partial(self._workers.convert, request.scope, client=client), wanted)
            notes = await read_notes(self._notes(request, wanted.topic or ""))
            return Counting(source, ranges, wanted, sorting, notes, limits)
        except BaseException:
            self._turns.give_back(client)
            raise

    async def _shown(self, request: Request, wanted: LetterRequest, client: str) -> Response:
        source = self._source(request, wanted.topic or "")
        bounds = (await source.bounds()).get(wanted.partition)
        source.require_headers()
        if bounds is None:
            raise errors.NO_PARTITION(partition=wanted.partition)
        place = {"partition": wanted.partition, "offset": wanted.offset}
        if not bounds.first <= wanted.offset < bounds.end:
            raise errors.NO_LETTER(**place, first=bounds.first, end=bounds.end)
        page = await source.read(wanted.partition, wanted.offset, records=1, size=_LETTER_BYTES)
        records = [record for record in page.records if record.offset == wanted.offset]
        if not records:
            raise errors.NO_LETTER(**place, first=bounds.first, end=bounds.end)
        body = ShowRequest(
            topic=wanted.topic,
            context=wanted.context,
            partition=wanted.partition,
            offset=wanted.offset,
            whole=wanted.whole,
            records=records,
        )
        task = Task("letter", msgspec.json.encode(body), self._settings.messages_max_bytes)
        outcome: Outcome = await self._workers.convert(request.scope, task, client)
        if outcome.status != 200:
            return Response(outcome.body, outcome.status, media_type="application/json")
        number = int(msgspec.json.decode(outcome.body, type=_Identity).identity)
        state, problem = await read_note(self._notes(request, wanted.topic or ""), number)
        replayed = None if state is None else {"count": state.count, "time": state.time, "topic": state.topic}
        answer = {"letter": orjson.Fragment(outcome.body), "replayed": replayed, "notesProblem": problem}
        return Response(orjson.dumps(answer), media_type="application/json", headers={"Cache-Control": "no-store"})

    def _source(self, request: Request, topic: str) -> TopicSource:
        return TopicSource(partial(self._rest.read, request.scope), topic, committed=True)

    def _notes(self, request: Request, topic: str) -> TopicSource:
        """The notes up to those of a replay that has just ended."""
        get = partial(self._rest.read, request.scope)
        return TopicSource(get, state_topic(topic), committed=True, ends_stable=False)


class _Identity(msgspec.Struct):
    identity: str


async def _lines(counting: Counting) -> AsyncIterator[bytes]:
    try:
        async for line in counting.lines():
            yield line + b"\n"
    except ApiError as error:
        yield orjson.dumps({"error": {"status": error.status, **error.body()}}) + b"\n"
