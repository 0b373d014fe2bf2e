"""The blocking and the asynchronous client of a schema registry; both drive the same flows."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, cast

from serdes.client.auth import Auth, Basic, Bearer, ClientCredentials, Target
from serdes.client.endpoints.cached import CacheLimits, Endpoints
from serdes.client.endpoints.plain import LATEST, PlainEndpoints
from serdes.client.flow import Answer, Call, Flow, Pause, Step, TransportFailure
from serdes.client.models import Compatibility, RegisteredSchema, SchemaInfo, SubjectVersion
from serdes.client.requester import Requester, Retry, error_of, split_urls
from serdes.client.transport import Connection, Tls
from serdes.error import RegistryUnavailable

if TYPE_CHECKING:
    import httpx

__all__ = [
    "LATEST",
    "AsyncRegistryClient",
    "Auth",
    "Basic",
    "Bearer",
    "CacheLimits",
    "ClientCredentials",
    "Compatibility",
    "RegisteredSchema",
    "RegistryClient",
    "Retry",
    "SchemaInfo",
    "SubjectVersion",
    "Target",
    "Tls",
]

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=PlainEndpoints)


class BaseClient:
    """The part that both clients share: settings, connection and caches.

    Attributes:
        urls: The registry's base URLs, without credentials.
        endpoints: The flows that the methods drive, and their caches.
        requester: Sends requests that no endpoint makes; `drive` runs its flows.
        is_bare: Whether it has neither credentials nor TLS settings, proxy, transport or headers of its own.
        latest_ttl: Seconds for which a subject's latest version is cached; None for ever.
    """

    endpoints_type: type[Endpoints] = Endpoints

    def __init__(
        self,
        urls: str | Sequence[str],
        *,
        transport: Any = None,
        auth: Auth | None = None,
        tls: Tls | None = None,
        proxy: str | None = None,
        timeout: float = 30.0,
        retry: Retry | None = None,
        cache: CacheLimits | None = None,
        headers: Mapping[str, str] | None = None,
        trust_env: bool = True,
    ) -> None:
        """Make a client; it connects at the first request.

        Args:
            urls: One URL, or several in a list or separated by commas: if one fails, the next is tried.
                `mock://scope` is a registry in memory; clients of the same scope share it.
            transport: An httpx transport instead of the network; for an ASGI app: `serdes.client.asgi.AsgiTransport`.
            auth: Credentials; None to use those in the URL.
            tls: The certificates that https connections trust, and the one that they present.
            proxy: The URL of an HTTP proxy.
            timeout: The most seconds for connecting, and for waiting for an answer.
            retry: The number of retries of a failed request, and the waits before them.
            cache: The sizes of the caches, and how long latest versions are cached.
            headers: Additional headers of every request.
            trust_env: Whether requests go through a proxy that the environment names, such as in HTTPS_PROXY.

        Raises:
            ConfigError: a URL is invalid, or an argument is out of range.
        """
        self.urls, url_auth = split_urls(urls)
        #: All URLs that requests go to, the token endpoint's included.
        self._reached = (*self.urls, auth.token_url) if isinstance(auth, ClientCredentials) else self.urls
        self._connection = Connection(tls or Tls(), proxy, timeout, transport, trust_env)
        auth = auth or url_auth
        self.is_bare = (auth, tls or Tls(), proxy, transport, headers or {}) == (None, Tls(), None, None, {})
        self.requester = Requester(self.urls, auth, retry or Retry(), headers or {})
        self._opening = Lock()
        limits = cache or CacheLimits()
        self.endpoints = self.endpoints_type(self.requester, limits)
        self.latest_ttl = limits.latest_ttl

    def clear_latest_caches(self) -> None:
        """Drops the cached latest versions."""
        self.endpoints.clear_latest()

    def clear_caches(self) -> None:
        """Drops all cached answers."""
        self.endpoints.clear()


def blocking(flow: Callable[Concatenate[E, P], Flow[R]]) -> Callable[Concatenate[RegistryClient, P], R]:
    """Makes a method that drives a flow of the client's endpoints and returns its result."""

    @wraps(flow)
    def method(self: RegistryClient, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.drive(flow(cast("E", self.endpoints), *args, **kwargs))

    return method


def awaitable(
    flow: Callable[Concatenate[E, P], Flow[R]],
) -> Callable[Concatenate[AsyncRegistryClient, P], Coroutine[Any, Any, R]]:
    """Makes a coroutine method that drives a flow of the client's endpoints and returns its result."""

    @wraps(flow)
    async def method(self: AsyncRegistryClient, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.drive(flow(cast("E", self.endpoints), *args, **kwargs))

    return method


class RegistryClient(BaseClient):
    """A blocking client of a schema registry; safe to share between threads.

    Every method drives the flow of the same name in `serdes.client.endpoints.cached.Endpoints`. In addition to the
    errors listed there, it may raise RegistryError, RegistryUnavailable and OAuthTokenError.
    """

    _http: httpx.Client | None = None

    register = blocking(Endpoints.register)
    lookup = blocking(Endpoints.lookup)
    schema_by_id = blocking(Endpoints.schema_by_id)
    schema_by_guid = blocking(Endpoints.schema_by_guid)
    version = blocking(Endpoints.version)
    latest_with_metadata = blocking(Endpoints.latest_with_metadata)
    versions = blocking(Endpoints.versions)
    subjects = blocking(Endpoints.subjects)
    subjects_of = blocking(Endpoints.subjects_of)
    versions_of = blocking(Endpoints.versions_of)
    ids_of = blocking(Endpoints.ids_of)
    referenced_by = blocking(Endpoints.referenced_by)
    schema_types = blocking(Endpoints.schema_types)
    contexts = blocking(Endpoints.contexts)
    delete_subject = blocking(Endpoints.delete_subject)
    delete_version = blocking(Endpoints.delete_version)
    check_compatibility = blocking(Endpoints.check_compatibility)
    config = blocking(Endpoints.config)
    put_config = blocking(Endpoints.put_config)
    delete_config = blocking(Endpoints.delete_config)
    mode = blocking(Endpoints.mode)
    put_mode = blocking(Endpoints.put_mode)
    delete_mode = blocking(Endpoints.delete_mode)
    associations = blocking(Endpoints.associations)
    access_rules = blocking(Endpoints.access_rules)
    add_access_rules = blocking(Endpoints.add_access_rules)
    remove_access_rules = blocking(Endpoints.remove_access_rules)
    replace_access_rules = blocking(Endpoints.replace_access_rules)
    server_version = blocking(Endpoints.server_version)
    dependencies = blocking(Endpoints.dependencies)

    def drive(self, flow: Flow[R]) -> R:
        """Performs the requests and pauses of a flow, and returns its result."""
        try:
            step = next(flow)
            while True:
                try:
                    answer = self._perform(step)
                except TransportFailure as failure:
                    step = flow.throw(failure)
                else:
                    step = flow.send(answer)
        except StopIteration as stop:
            result: R = stop.value
            return result

    def _perform(self, step: Step) -> Answer | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        if isinstance(step, Call):
            step.run()
            return None
        import httpx  # noqa: PLC0415  # takes a tenth of a second

        http = self._opened()
        try:
            response = http.request(step.method, step.url, headers=step.headers, content=step.body)
        except httpx.TransportError as error:
            raise TransportFailure(_reason(error)) from error
        return Answer(response.status_code, response.content, response.headers)

    @contextmanager
    def lines(self, path: str, headers: Mapping[str, str], *, silence: float) -> Iterator[Iterator[str]]:
        """The lines of an answer without an end, such as that of `/events`, from the URL that answered last.

        Args:
            path: The path, with its query.
            headers: Further headers.
            silence: After so many seconds without a line, the connection counts as lost.

        Raises:
            RegistryError: The registry refused the request.
            RegistryUnavailable: The URL does not answer, or the connection is lost.
        """
        import httpx  # noqa: PLC0415  # takes a tenth of a second

        request = self.drive(self.requester.request(path, headers))
        http = self._opened()
        timeout = httpx.Timeout(self._connection.timeout, read=silence)
        try:
            with http.stream(request.method, request.url, headers=request.headers, timeout=timeout) as response:
                if response.status_code >= 400:
                    raise error_of(Answer(response.status_code, response.read(), response.headers))
                yield response.iter_lines()
        except httpx.TransportError as error:
            raise RegistryUnavailable(f"GET {path}", self.urls, 1, f"{request.url}: {_reason(error)}") from error

    def _opened(self) -> httpx.Client:
        with self._opening:
            http = self._http = self._http or self._connection.open(self._reached)
        return http

    def close(self) -> None:
        """Closes the connections; a later request opens new ones."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncRegistryClient(BaseClient):
    """An asynchronous client of a schema registry: the methods of RegistryClient as coroutines."""

    _http: httpx.AsyncClient | None = None

    register = awaitable(Endpoints.register)
    lookup = awaitable(Endpoints.lookup)
    schema_by_id = awaitable(Endpoints.schema_by_id)
    schema_by_guid = awaitable(Endpoints.schema_by_guid)
    version = awaitable(Endpoints.version)
    latest_with_metadata = awaitable(Endpoints.latest_with_metadata)
    versions = awaitable(Endpoints.versions)
    subjects = awaitable(Endpoints.subjects)
    subjects_of = awaitable(Endpoints.subjects_of)
    versions_of = awaitable(Endpoints.versions_of)
    ids_of = awaitable(Endpoints.ids_of)
    referenced_by = awaitable(Endpoints.referenced_by)
    schema_types = awaitable(Endpoints.schema_types)
    contexts = awaitable(Endpoints.contexts)
    delete_subject = awaitable(Endpoints.delete_subject)
    delete_version = awaitable(Endpoints.delete_version)
    check_compatibility = awaitable(Endpoints.check_compatibility)
    config = awaitable(Endpoints.config)
    put_config = awaitable(Endpoints.put_config)
    delete_config = awaitable(Endpoints.delete_config)
    mode = awaitable(Endpoints.mode)
    put_mode = awaitable(Endpoints.put_mode)
    delete_mode = awaitable(Endpoints.delete_mode)
    associations = awaitable(Endpoints.associations)
    access_rules = awaitable(Endpoints.access_rules)
    add_access_rules = awaitable(Endpoints.add_access_rules)
    remove_access_rules = awaitable(Endpoints.remove_access_rules)
    replace_access_rules = awaitable(Endpoints.replace_access_rules)
    server_version = awaitable(Endpoints.server_version)
    dependencies = awaitable(Endpoints.dependencies)

    async def drive(self, flow: Flow[R]) -> R:
        """Performs the requests and pauses of a flow, and returns its result."""
        try:
            step = next(flow)
            while True:
                try:
                    answer = await self._perform(step)
                except TransportFailure as failure:
                    step = flow.throw(failure)
                else:
                    step = flow.send(answer)
        except StopIteration as stop:
            result: R = stop.value
            return result

    async def _perform(self, step: Step) -> Answer | None:
        import asyncio  # noqa: PLC0415  # the blocking client does not need it

        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, Call):
            await asyncio.to_thread(step.run)
            return None
        import httpx  # noqa: PLC0415  # takes a tenth of a second

        from magicbyte.kit import http_client  # noqa: PLC0415  # imports httpx

        if self._http is None:
            self._http = self._connection.open_async(self._reached)
        try:
            request = self._http.build_request(step.method, step.url, headers=step.headers, content=step.body)
            response = await http_client.send(self._http, request)
        except httpx.TransportError as error:
            raise TransportFailure(_reason(error)) from error
        return Answer(response.status_code, response.content, response.headers)

    async def close(self) -> None:
        """Closes the connections; a later request opens new ones."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
