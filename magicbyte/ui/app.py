"""The page's routes: its files, its configuration, and the REST proxy behind it."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response

from magicbyte import __version__
from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.access import OPEN, SIGNED_IN
from magicbyte.http.routing.extra_routes import ExtraRoutes
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Row
from magicbyte.security.tls.context import client_context
from magicbyte.ui import errors
from magicbyte.ui.decode import MessageWorkers, ReadRegistry
from magicbyte.ui.files import File, Files, is_built
from magicbyte.ui.inside import Inside
from magicbyte.ui.parameters import (
    AcceptedCodings,
    AnyBody,
    DecodeBody,
    EncodeBody,
    ExampleBody,
    FilePath,
    FrontPath,
    IfNoneMatch,
    LetterBody,
    LettersBody,
    PipelineName,
    RestPath,
    ScanBody,
    TogetherBody,
)
from magicbyte.ui.paths import FOLDER, FRONT
from magicbyte.ui.pipelines.pipelines import PipelineList, RequireSignIn, signed_in
from magicbyte.ui.policy import policy
from magicbyte.ui.rest import Upstream
from magicbyte.ui.scan.scan_requests import Scans
from magicbyte.ui.together import Together

if TYPE_CHECKING:
    from magicbyte.ui.letters.letters import DeadLetters

_POLICY = policy()
_HEADERS = {"Cross-Origin-Opener-Policy": "same-origin", "Vary": "Accept-Encoding"}
_CHECKED_AGAIN = "no-cache"
#: A year, in seconds: the longest that RFC 9111 caches keep an answer.
_KEPT = "public, max-age=31536000, immutable"
#: An Accept-Encoding with a coding that it does not refuse.
_CODING = r"\b%s\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))"
_BROTLI, _GZIP = re.compile(_CODING % "br"), re.compile(_CODING % "gzip")
_READS = frozenset(("GET", "HEAD"))


def extra_routes(settings: PageSettings) -> ExtraRoutes:
    """The page's routes, for the registry that the page shows."""
    inside = Inside()
    page = Page(settings, registry_base="../", read_registry=inside.read, has_rules=settings.has_rules)
    return ExtraRoutes(page.rows(), front=FRONT, attach=inside.attach, close=page.close)


class Page:
    """The handlers of the page's routes."""

    def __init__(
        self,
        settings: PageSettings,
        *,
        registry_base: str,
        read_registry: ReadRegistry,
        has_rules: bool,
        require_sign_in: RequireSignIn = signed_in,
    ) -> None:
        """Read the files.

        Args:
            settings: The name of the page, what it may change, the limits of messages, and the REST proxy behind it.
            registry_base: The registry's address relative to `/ui/`.
            read_registry: Sends a GET to the registry as the sender of a request, for its messages.
            has_rules: Whether the registry may have access rules. Its lists then leave out what a user may not see.
            require_sign_in: Refuses the sender of a request whom the registry does not know, if the rows do not.
        """
        self._settings = settings
        self._together = Together(read_registry, settings)
        self._rest: Upstream | None = None
        if settings.rest_url:
            tls = partial(client_context, settings, shows_certificate=False)
            self._rest = Upstream("REST proxy", settings.rest_url, tls, settings)
        self._workers = MessageWorkers(read_registry, settings)
        self._scans = None if self._rest is None else Scans(self._rest, self._workers, settings)
        self._letters: DeadLetters | None = None
        if self._rest is not None:
            # Imported here alone: the libraries that decode letters take a tenth of a registry's memory.
            from magicbyte.ui.letters.letters import DeadLetters  # noqa: PLC0415  see above

            self._letters = DeadLetters(self._rest, self._workers, settings)
        self._pipelines = PipelineList(settings, self._rest, require_sign_in)
        self._config = orjson.dumps(
            {
                "name": settings.page_name,
                "color": settings.page_color,
                "readOnly": settings.page_read_only,
                "restAvailable": self._rest is not None,
                "pipelinesConfigured": bool(settings.pipeline_ports),
                "accessRules": has_rules,
                "registryBase": registry_base,
                "version": __version__,
                # Modules of a checkout send each GET by itself, so that the browser's tools show them.
                "features": ["together"] if is_built() else [],
            }
        )
        self._files = Files(registry_base=registry_base, config=self._config)

    def rows(self) -> tuple[Row, ...]:
        """The routes; the files and the configuration need no sign-in, because they contain no data."""
        relayed = partial(Row, access=SIGNED_IN, media_types=json_errors, has_deadline=False, for_own_pages=True)
        path = f"{FOLDER}rest/{{path:path}}"
        return (
            Row("GET", "/ui", "getPage", OPEN, self.front, json_errors, page_policy=_POLICY),
            Row("GET", f"{FOLDER}{{path:path}}", "getPageFile", OPEN, self.file, json_errors, page_policy=_POLICY),
            Row("GET", f"{FOLDER}config.json", "getPageConfig", OPEN, self.config, json_errors, page_policy=_POLICY),
            relayed("GET", path, "readFromRestProxy", handler=self.read_from_rest),
            relayed("POST", path, "postToRestProxy", handler=self.post_to_rest),
            relayed("PATCH", path, "patchAtRestProxy", handler=self.patch_at_rest),
            relayed("DELETE", path, "deleteFromRestProxy", handler=self.delete_from_rest),
            relayed("POST", f"{FOLDER}decode", "decodeMessages", handler=self.decode),
            relayed("POST", f"{FOLDER}encode", "encodeMessages", handler=self.encode),
            relayed("POST", f"{FOLDER}example", "makeExampleMessage", handler=self.example),
            relayed("POST", f"{FOLDER}messages", "searchMessages", handler=self.messages),
            relayed("POST", f"{FOLDER}together", "readTogether", handler=self.together),
            relayed("POST", f"{FOLDER}dead-letters", "countDeadLetters", handler=self.dead_letters),
            relayed("POST", f"{FOLDER}dead-letter", "showDeadLetter", handler=self.dead_letter),
            relayed("GET", f"{FOLDER}pipelines.json", "listPipelines", handler=self.pipelines),
        )

    async def close(self) -> None:
        """End the workers, and close the connections to other servers."""
        self._together.close()
        if self._scans is not None:
            self._scans.close()
        if self._letters is not None:
            self._letters.close()
        await self._workers.close()
        await self._pipelines.close()
        if self._rest is not None:
            await self._rest.close()

    async def front(self, *, path: FrontPath, if_none_match: IfNoneMatch = None, accepted: AcceptedCodings) -> Response:
        """Leads to `ui/`."""
        return self._file(path, if_none_match, accepted)

    async def file(self, *, path: FilePath, if_none_match: IfNoneMatch = None, accepted: AcceptedCodings) -> Response:
        """A file of the page; the page itself for all other paths, which are those of the API behind `/ui`."""
        return self._file(path, if_none_match, accepted)

    def _file(self, path: str | None, if_none_match: str | None, accepted: str) -> Response:
        if path is None:
            # Links of the page are relative to its folder.
            return Response(status_code=303, headers={"Location": FRONT})
        file = self._files.find(path)
        if file is not None:
            return _answer(file, if_none_match, accepted)
        if self._files.is_file_path(path):
            raise NOT_FOUND()
        return _answer(self._files.page(path), if_none_match, accepted)

    async def config(self, _request: Request) -> Response:
        """The configuration of the page: its name, and the functions that it offers."""
        return Response(self._config, media_type="application/json", headers={"Cache-Control": "no-store"})

    async def decode(self, request: Request, *, path: FrontPath, _body: DecodeBody) -> Response:
        """Decode up to 100 messages, together at most 1 MiB; each item of the answer is a value or an error."""
        return await self._messages(request, path)

    async def encode(self, request: Request, *, path: FrontPath, _body: EncodeBody) -> Response:
        """Encode up to 100 values with one schema."""
        return await self._messages(request, path)

    async def example(self, request: Request, *, path: FrontPath, _body: ExampleBody) -> Response:
        """A message that a schema describes."""
        return await self._messages(request, path)

    async def messages(self, request: Request, *, path: FrontPath, _body: ScanBody) -> Response:
        """Search the records of a topic, of all partitions, merged by their times.

        The answer is lines of JSON: `begin`, then a `record` for each that fits with `progress` between them, and
        `end` or `error`. The search ends when the client closes the connection.
        """
        if path != "messages":
            raise NOT_FOUND()
        if self._scans is None:
            raise errors.NO_REST_PROXY()
        return await self._scans.answer(request)

    async def together(self, request: Request, *, path: FrontPath, _body: TogetherBody) -> Response:
        """Send up to 16 GETs to the registry.

        The answer has a line of JSON for each, as soon as the registry has answered it.
        """
        if path != "together":
            raise NOT_FOUND()
        return await self._together.answer(request)

    async def dead_letters(self, request: Request, *, path: FrontPath, _body: LettersBody) -> Response:
        """Count the dead letters of a topic by groups, and list the newest of them.

        The answer is lines of JSON: `begin`, then a `letter` for each that is listed with `progress` between them, and
        `end` or `error`. The count ends when the client closes the connection.
        """
        if path != "dead-letters":
            raise NOT_FOUND()
        if self._letters is None:
            raise errors.NO_REST_PROXY()
        return await self._letters.count(request)

    async def dead_letter(self, request: Request, *, path: FrontPath, _body: LetterBody) -> Response:
        """One dead letter: what its headers say, its bytes, and how far its key and value decode."""
        if path != "dead-letter":
            raise NOT_FOUND()
        if self._letters is None:
            raise errors.NO_REST_PROXY()
        return await self._letters.show(request)

    async def pipelines(self, request: Request, *, name: PipelineName = None) -> Response:
        """The pipelines, as their metrics ports and their Kafka sinks' markers tell of them.

        Everybody who has signed in sees the figures of the ports. Markers need the rights to read their topic.
        """
        return await self._pipelines.answer(request, name)

    async def _messages(self, request: Request, path: str | None) -> Response:
        """Messages that the serdes decode, encode or make up, with schemas that the sender may read."""
        return await self._workers.answer(request, (path or "").partition("/")[0])

    async def read_from_rest(self, request: Request, *, path: RestPath) -> Response:
        """The REST proxy's answer for `/topics`, `/brokers`, `/consumers` or `/v3`."""
        return await self._pass_on(request, path)

    async def post_to_rest(self, request: Request, *, path: RestPath, _body: AnyBody) -> Response:
        """The REST proxy's answer, as of GET."""
        return await self._pass_on(request, path)

    async def patch_at_rest(self, request: Request, *, path: RestPath, _body: AnyBody) -> Response:
        """The REST proxy's answer, as of GET; version 3 adds partitions to a topic by PATCH."""
        return await self._pass_on(request, path)

    async def delete_from_rest(self, request: Request, *, path: RestPath) -> Response:
        """The REST proxy's answer, as of GET."""
        return await self._pass_on(request, path)

    async def _pass_on(self, request: Request, path: str) -> Response:
        """The REST proxy's answer.

        Raises:
            ApiError: 403 for writes if the page may only read, 404 without a REST proxy, 502 and 504 if the proxy does
                not answer.
        """
        if self._rest is None:
            raise errors.NO_REST_PROXY()
        require_writable(request, self._settings)
        # Who looks at topics usually looks at messages next.
        self._workers.warm_up()
        return await self._rest.pass_on(request, path)


def require_writable(request: Request, settings: PageSettings) -> None:
    """Refuse a write if the page may only read.

    Raises:
        ApiError: 403.
    """
    if settings.page_read_only and request.method not in _READS:
        raise errors.READ_ONLY()


def json_errors(request: Request) -> None:
    """Let errors be JSON; the handlers set the media types of other answers."""
    request.media_type = "application/json"


def _answer(file: File, if_none_match: str | None, accepted: str) -> Response:
    headers = {**_HEADERS, "Cache-Control": _KEPT if file.is_hashed else _CHECKED_AGAIN, "ETag": file.etag}
    if file.policy is not None:
        headers["Content-Security-Policy"] = file.policy.decode()
    if file.etag in (if_none_match or ""):
        return Response(status_code=304, headers=headers)
    for body, name, coding in ((file.brotli, "br", _BROTLI), (file.compressed, "gzip", _GZIP)):
        if body is not None and coding.search(accepted):
            headers["Content-Encoding"] = name
            return Response(body, media_type=file.media_type, headers=headers)
    return Response(file.body, media_type=file.media_type, headers=headers)
