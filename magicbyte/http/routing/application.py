"""A server's application: every request takes the same steps.

limits -> principal -> route -> access -> media types -> cached answer or handler -> metrics -> log
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson
import yaml
from fastapi import FastAPI
from starlette.datastructures import State
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from magicbyte.http.asgi import Receive, Scope, Send
from magicbyte.http.errors import GATEWAY_TIMEOUT, INTERNAL
from magicbyte.http.response_headers import NO_PAGE, NO_STORE, Header
from magicbyte.http.routing.access import Decision, Identify, Operation, SignIn, anonymous, nobody
from magicbyte.http.routing.identity import BODY_CHECK
from magicbyte.http.routing.limits import EarlyError, within
from magicbyte.http.routing.recorder import Recorder
from magicbyte.http.routing.remembered import RememberedAnswers, Slot
from magicbyte.http.routing.request import Handler, Request
from magicbyte.http.routing.rows import BodyLimit, Negotiate, Row
from magicbyte.http.routing.server_spans import begin_server_span, end_server_span
from magicbyte.http.routing.solved import RowRoute
from magicbyte.http.routing.table import Locate, RouteMatch, Table
from magicbyte.http.routing.unrouted import row_without_route
from magicbyte.kit.errors import ApiError, ErrorKind
from magicbyte.kit.failure import Failure
from magicbyte.kit.logs.access import ACCESS
from magicbyte.kit.logs.request_facts import CURRENT, RequestFacts
from magicbyte.kit.sharing.deadlines import Deadlines
from magicbyte.kit.traces.span import Span
from magicbyte.kit.traces.tracing import TRACING
from magicbyte.security.principal import ANONYMOUS, Principal

log = logging.getLogger("magicbyte.http")

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
#: Answers a request whose handler raised an exception of some type.
OnError = Callable[[Request, Any], Awaitable[Response]]
#: Decides for a principal, a request, and its route with the path's parameters; raises ApiError to refuse.
Decide = Callable[[Principal, Scope, RouteMatch], Decision | None]


#: A response with one of these headers says itself how long it may be stored.
_STORAGE_HEADERS = frozenset((b"etag", b"cache-control"))
_NAME = itemgetter(0)


def _unchanged(path: str) -> tuple[str, Mapping[str, str]]:
    return path, {}


def _allow_all(_principal: Principal, _scope: Scope, _match: RouteMatch) -> Decision:
    """Allow everything: there are no access rules."""
    return Decision.ALLOWED


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The parts of an application that differ between servers.

    Attributes:
        name: The server's name in metrics.
        contract: The file name of the OpenAPI document that describes the rows.
        rows: All routes.
        error_response: Makes the answer for an error, in the chosen media type or in a fitting one.
        body_limits: The largest bodies, in bytes.
        unrouted_media_types: Negotiates requests without a route.
        deadline_seconds: The longest time until the answer of a row with a deadline; None for no limit.
        timed_out: The error after that time.
        locate: Strips a path before its row is looked up.
        on_errors: Type of exceptions other than ApiError -> answers them.
        before_handling: Called before the handler; it may raise.
        after_handling: Called with the answer of the handler, or with the answer for its error, before it is sent.
        remembered: The cache of answers; None for no cache.
        identify: Returns the principal of most requests.
        sign_in: Returns the principal of the other requests, which takes longer.
        skipped_paths: Paths that need no sign-in, in addition to the rows that need none.
        decide: Decides on access.
        headers: The headers of all responses of routes.
        is_guarded: Whether clients sign in, so that a response may be for one principal only.
    """

    name: str
    contract: str
    rows: Sequence[Row]
    error_response: Callable[[Request, ApiError], Response]
    body_limits: Mapping[BodyLimit, int]
    unrouted_media_types: Negotiate
    deadline_seconds: float | None = None
    timed_out: ErrorKind = GATEWAY_TIMEOUT
    locate: Locate = _unchanged
    on_errors: Mapping[type[Exception], OnError] = field(default_factory=dict)
    before_handling: Callable[[Request], Awaitable[None]] | None = None
    after_handling: Callable[[Request, Response], None] | None = None
    remembered: RememberedAnswers | None = None
    identify: Identify = anonymous
    sign_in: SignIn = nobody
    skipped_paths: frozenset[str] = frozenset()
    decide: Decide = _allow_all
    headers: Sequence[Header] = ()
    is_guarded: bool = False


class _State(State):
    """State whose attributes are found in one step: Starlette's raises and catches an error at each read."""

    def __setattr__(self, key: str, value: Any) -> None:
        object.__setattr__(self, key, value)


class Application:
    """An ASGI application made of rows; `fastapi` has routes for the same rows, the lifespan and the state."""

    def __init__(self, api: Api, lifespan: Lifespan | None = None) -> None:
        """Compile the rows.

        Args:
            api: The parts that differ between servers.
            lifespan: Starts and stops the resources of the handlers.

        Raises:
            ValueError: The rows contradict each other.
        """
        self.table = Table(api.rows, api.locate, row_without_route(api.unrouted_media_types))
        self.recorder = Recorder(api.name, self.table.tallies, self.table.unrouted)
        self._api = api
        self._remembered = api.remembered
        self._deadlines = None if api.deadline_seconds is None else Deadlines(api.deadline_seconds)
        self._headers = {row: _headers_of(row, api.headers) for row in api.rows}
        self._private = frozenset(
            row for row in api.rows if not row.may_be_stored or (api.is_guarded and not row.needs_sign_in_at_most)
        )
        self._on_errors: Mapping[type[Exception], OnError] = {
            Exception: _on_anything,
            ClientDisconnect: _on_disconnect,
            ApiError: self._on_api_error,
            EarlyError: _on_early_error,
            **api.on_errors,
        }
        self.fastapi = FastAPI(lifespan=self._checked(lifespan), openapi_url=None, docs_url=None, redoc_url=None)
        self.fastapi.router.redirect_slashes = False
        self.fastapi.state = _State()
        self._handlers: dict[Row, Handler] = {self.table.without_route: self.table.without_route.innermost}
        for row in api.rows:
            route = RowRoute(row)
            self._handlers[row] = route.handler
            self.fastapi.router.routes.append(route)
        document: dict[str, Any] = {}

        def openapi() -> dict[str, Any]:
            if not document:
                document.update(load_contract(api.contract))
            return document

        self.fastapi.openapi = openapi  # type: ignore[method-assign]

    @property
    def state(self) -> Any:
        """The state that handlers read as `request.app.state`."""
        return self.fastapi.state

    def _checked(self, lifespan: Lifespan | None) -> Lifespan:
        @asynccontextmanager
        async def checked(app: FastAPI) -> Any:
            require_rows(app, self.table.rows)
            if lifespan is None:
                yield
            else:
                async with lifespan(app):
                    yield

        return checked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.fastapi(scope, receive, send)
            return
        started = time.perf_counter()
        api, remembered = self._api, self._remembered
        principal = api.identify(scope)
        match = self.table.find(scope["method"], scope["raw_path"])
        row, slot, denial = match.row, None, None
        tracer = TRACING.tracer
        server_span = None if tracer is None else begin_server_span(tracer, scope, match)
        try:
            if principal is None:
                principal, receive = await self._sign_in(match, scope, receive)
            if row.is_remembered and remembered is not None and scope["method"] == row.method:
                # Read the state before the decision: a decision on an older state must not be cached for a newer one.
                slot = remembered.slot(principal, scope)
            decision = api.decide(principal, scope, match)
        except ApiError as error:
            # Without the traceback: it refers to this frame, which refers to the error.
            principal, decision, denial = principal or ANONYMOUS, None, error.with_traceback(None)
        if decision is None:
            slot = None
        if slot is not None and remembered is not None:
            if row.method != "GET":
                slot, receive = await remembered.with_body(slot, scope, receive)
            if slot is not None and (cached := remembered.find(slot)) is not None:
                await send(cached.start)
                await send(cached.body)
                self._record_cached(scope, match, principal, time.perf_counter() - started, server_span)
                return
        request = Request(scope, receive, match, principal, decision, denial)
        token = CURRENT.set(request.facts)
        try:
            await self._answer(request, send, started, slot, server_span)
        finally:
            CURRENT.reset(token)

    def _record_cached(
        self, scope: Scope, match: RouteMatch, principal: Principal, seconds: float, server_span: Span | None
    ) -> None:
        """Count and log an answer from the cache, and end its span."""
        match.tallies.add(200, seconds)
        if ACCESS.lowest_status <= 200:
            self.recorder.log(scope, match.tallies, 200, seconds, RequestFacts(scope["headers"], principal.name))
        if server_span is not None:
            end_server_span(server_span, 200)

    async def _sign_in(self, match: RouteMatch, scope: Scope, receive: Receive) -> tuple[Principal, Receive]:
        """Sign in a request that `identify` does not know; return its principal, and how to receive its body.

        Raises:
            ApiError: The credentials are invalid.
        """
        api = self._api
        # Lines of the sign-in have the request's id, and not that of the request before it on its connection.
        CURRENT.set(RequestFacts(scope["headers"], ANONYMOUS.name))
        if match.row.access.operation is Operation.NOTHING or match.path in api.skipped_paths:
            return ANONYMOUS, receive
        principal = await api.sign_in(scope)
        check = scope.get(BODY_CHECK)
        return principal, receive if check is None else check(receive)

    async def _answer(
        self, request: Request, send: Send, started: float, slot: Slot | None, server_span: Span | None
    ) -> None:
        """Call the handler and send its answer; count and log the answer, and end its span."""
        scope, match, recorder = request.scope, request.match, self.recorder
        row, status = match.row, 500
        scope["app"], scope["path"], scope["path_params"] = self.fastapi, match.path, match.parameters
        recorder.in_progress += 1
        try:
            try:
                response = await self._handle(request)
            except Exception as error:  # noqa: BLE001  the table of errors has a row for any error
                response = await self._on_error(request, error)
                # Its frames refer to the request, which refers to a denial: only the garbage collector would free them.
                error.__traceback__ = None
            if response.status_code < 400 and request.decision is not Decision.ALLOWED:
                log.error(
                    "%s %s: no access rule was checked, so the answer is replaced by 500",
                    row.method,
                    row.path,
                    extra={"event": "access_undecided", "method": row.method, "route": row.path},
                )
                response = plain_response(INTERNAL())
            status = response.status_code
            self._add_headers(row, response)
            is_plain = type(response).__call__ is Response.__call__
            if slot is not None and status == 200 and is_plain and self._remembered is not None:
                self._remembered.add(slot, response)
            if request.tells_id(status):
                response.raw_headers.append((b"x-request-id", request.request_id.encode()))
            if is_plain:
                await send({"type": "http.response.start", "status": status, "headers": response.raw_headers})
                await send({"type": "http.response.body", "body": response.body})
            else:
                await response(scope, request.receive, send)
        finally:
            recorder.in_progress -= 1
            match.tallies.add(status, seconds := time.perf_counter() - started)
            if status >= ACCESS.lowest_status:
                recorder.log(scope, match.tallies, status, seconds, request.facts)
            if server_span is not None:
                end_server_span(server_span, status)

    def _add_headers(self, row: Row, response: Response) -> None:
        headers = response.raw_headers
        added = self._headers.get(row, self._api.headers)
        if row.page_policy is not None and NO_PAGE[0] in map(_NAME, headers):
            added = [header for header in added if header[0] != NO_PAGE[0]]
        headers.extend(added)
        if row in self._private and _STORAGE_HEADERS.isdisjoint(map(_NAME, headers)):
            headers.append(NO_STORE)

    def _handle(self, request: Request) -> Awaitable[Response]:
        api, row = self._api, request.row
        if request.denial is not None:
            with suppress(ApiError):
                row.media_types(request)
            raise request.denial
        if request.match.error is not None:
            raise EarlyError.of(request.match.error)
        if row.body_limit is not BodyLimit.NONE:
            request.limit_body(api.body_limits[row.body_limit])
        row.media_types(request)
        if self._deadlines is not None and row.has_deadline:
            return within(self._deadlines.start, self._handle_in_turn(request), api.timed_out)
        return self._handle_in_turn(request)

    async def _handle_in_turn(self, request: Request) -> Response:
        api = self._api
        if api.before_handling is not None:
            await api.before_handling(request)
        try:
            response = await self._handlers[request.row](request)
        except Exception as error:  # noqa: BLE001  as above
            response = await self._on_error(request, error)
        if api.after_handling is not None:
            api.after_handling(request, response)
        return response

    async def _on_error(self, request: Request, error: Exception) -> Response:
        on_error = next(self._on_errors[kind] for kind in type(error).__mro__ if kind in self._on_errors)
        try:
            return await on_error(request, error)
        except ApiError as api_error:
            return self._api.error_response(request, api_error)

    async def _on_api_error(self, request: Request, error: ApiError) -> Response:
        return self._api.error_response(request, error)


def _headers_of(row: Row, headers: Sequence[Header]) -> tuple[Header, ...]:
    """The headers of a row's answers: of these, and its policy if it is a page."""
    if row.page_policy is None:
        return tuple(headers)
    page = (NO_PAGE[0], row.page_policy)
    return tuple(page if header == NO_PAGE else header for header in headers)


def require_rows(app: FastAPI, rows: Sequence[Row]) -> None:
    """Check that each route has a row, because access to a route is decided by its row.

    Raises:
        Failure: A route has no row; the text names the route.
    """
    in_table = {(row.method, row.path) for row in rows}
    for route in app.routes:
        path, methods = getattr(route, "path", ""), getattr(route, "methods", None) or {"any method"}
        if not isinstance(route, RowRoute):
            raise Failure(f"the route {', '.join(sorted(methods))} {path} has no row in the table")
        if not in_table >= {(method, path) for method in methods - {"HEAD"}}:
            raise Failure(f"the route {', '.join(sorted(methods))} {path} differs from its row in method or path")


def load_contract(name: str) -> dict[str, Any]:
    """Return the OpenAPI document with a file name, from the installed package or, in a checkout, from openapi/."""
    packaged = Path(__file__).parents[2] / "openapi" / name
    path = packaged if packaged.exists() else Path(__file__).parents[3] / "openapi" / name
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: dict[str, Any] = yaml.load(path.read_text(), Loader=loader)  # noqa: S506  both loaders are the safe one
    return document


def plain_response(error: ApiError) -> Response:
    """Return the answer for an error as plain JSON."""
    response = Response(orjson.dumps(error.body()), error.status, media_type="application/json")
    response.raw_headers.extend(error.header_lines())
    return response


async def _on_early_error(_request: Request, error: EarlyError) -> Response:
    return plain_response(error)


async def _on_anything(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error, extra={"event": "request_failed"})
    raise INTERNAL()


async def _on_disconnect(request: Request, _error: Exception) -> Response:
    log.info(
        "%s %s: the client disconnected before it was answered",
        request.method,
        request.url.path,
        extra={"event": "client_disconnected"},
    )
    # The client is gone, so it does not get this answer.
    return Response(status_code=400)
