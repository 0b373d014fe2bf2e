"""`magicbyte ui`: the page in front of any registry that speaks Confluent's API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from starlette.responses import Response

from magicbyte.http.asgi import Scope
from magicbyte.http.connection.hooks import Hooks
from magicbyte.http.connection.hosts import is_loopback
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.access import OPEN
from magicbyte.http.routing.application import Api, Application, plain_response
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import BodyLimit, Row, Streams
from magicbyte.http.server import serve as serve_http
from magicbyte.kit.failure import Failure
from magicbyte.kit.logs.set_up import set_up_logs
from magicbyte.kit.traces.set_up import traces
from magicbyte.ui import errors
from magicbyte.ui.app import Page, json_errors, require_writable
from magicbyte.ui.messages.exchange import Question, Reply
from magicbyte.ui.parameters import RegistryPath
from magicbyte.ui.paths import FOLDER, FRONT, is_endless, only_asks
from magicbyte.ui.rest import Upstream
from magicbyte.ui.settings import UiSettings
from serdes.client.clients import AsyncRegistryClient, Tls
from serdes.client.config import client_options
from serdes.client.requester import OFFSET_HEADER, split_urls

#: As large as the registry's own limits allow by default: an import, and any other body.
_LIMITS = {BodyLimit.USUAL: 8 << 20, BodyLimit.BULK: 1 << 30}
_METHODS = ("GET", "POST", "PUT", "DELETE")


def create_app(settings: UiSettings, registry: Registry) -> Application:
    """Build the application.

    Args:
        settings: The page's settings.
        registry: The registry that the page shows; it is closed with the application.
    """
    # Nothing tells whether another registry has access rules.
    page = Page(
        settings,
        registry_base="registry/",
        read_registry=registry.read,
        has_rules=True,
        require_sign_in=registry.require_sign_in,
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await page.close()
            await registry.close()

    async def pass_on(request: Request, *, path: RegistryPath) -> Response:
        if request.method != "POST" or not only_asks(path):
            require_writable(request, settings)
        if is_endless(path):
            return await registry.upstream.follow(request, path)
        return await registry.upstream.pass_on(request, path)

    # Imports and /events may take any time.
    row = partial(
        Row,
        access=OPEN,
        handler=pass_on,
        media_types=json_errors,
        body_limit=BodyLimit.BULK,
        has_deadline=False,
        streams=Streams.ANSWER,
        for_own_pages=True,
    )
    passed = [row(method, f"{FOLDER}registry/{{path:path}}", f"{method.lower()}AtRegistry") for method in _METHODS]
    api = Api(
        name="ui",
        contract="ui.yaml",
        rows=(*page.rows(), *passed, Row("GET", "/", "root", OPEN, _root, json_errors)),
        error_response=lambda _request, error: plain_response(error),
        body_limits=_LIMITS,
        unrouted_media_types=json_errors,
        headers=settings.default_headers,
    )
    return Application(api, lifespan)


class Registry:
    """The registry behind the page."""

    def __init__(self, options: dict[str, Any], settings: PageSettings) -> None:
        """Prepare connections.

        Args:
            options: The arguments of RegistryClient, from the client's settings.
            settings: The limits of each client, and the proxies that report a client's address.
        """
        self._options = options
        self._tokens = AsyncRegistryClient(**options)
        # Credentials in the URL count too.
        self._auth = options["auth"] or split_urls(options["urls"])[1]
        tls: Tls = options["tls"]
        self.upstream = Upstream(
            "schema registry",
            self._tokens.urls[0],
            tls.context,
            settings,
            credentials=self._credentials,
        )

    @property
    def has_credentials(self) -> bool:
        """Whether the settings have credentials, which requests without any get."""
        tls: Tls = self._options["tls"]
        return self._auth is not None or tls.certificate is not None or tls.identity is not None

    async def close(self) -> None:
        """Close the connections."""
        await self.upstream.close()
        await self._tokens.close()

    async def read(self, scope: Scope, question: Question) -> Reply:
        """The registry's answer to a GET that is made for a request, with the sender's credentials.

        Raises:
            OSError: The registry does not answer.
        """
        headers = {"accept": question.accept}
        if question.offset is not None:
            headers[OFFSET_HEADER] = question.offset
        answer = await self.upstream.read(scope, question.target, headers, question.most_bytes)
        return Reply(answer.status_code, answer.content, answer.headers.get(OFFSET_HEADER))

    async def require_sign_in(self, scope: Scope) -> None:
        """Refuse the sender of a request whom the registry does not know: the page itself knows nobody.

        Raises:
            ApiError: 401 if the registry asks for a sign-in, 502 or 504 if it does not answer.
        """
        try:
            answer = await self.upstream.read(scope, "/config", {"accept": "application/json"})
        except TimeoutError:
            raise errors.TOO_SLOW(server="schema registry", seconds="30") from None
        except OSError:
            raise errors.UNREACHABLE(server="schema registry") from None
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            refusal = errors.NOT_SIGNED_IN()
            challenge = answer.headers.get("www-authenticate")
            raise refusal if challenge is None else refusal.with_headers(WWW_Authenticate=challenge)

    async def _credentials(self) -> Mapping[str, str]:
        if self._auth is None:
            return {}
        headers: Mapping[str, str] = await self._tokens.drive(self._auth.headers(renew=False))
        return headers


async def _root(_request: Request) -> Response:
    return Response(status_code=303, headers={"Location": FRONT})


def serve(settings: UiSettings, client: Mapping[str, str], *, on_start: Callable[[], None]) -> int:
    """Run the server until it is stopped; returns the exit code.

    Args:
        settings: The settings.
        client: The settings of the registry's client, with its URL.
        on_start: Called when the server accepts requests.

    Raises:
        ConfigError: A setting of the registry's client is wrong.
        Failure: The port is not available, or others would get the credentials of the settings.
    """
    set_up_logs(settings.log_level, form=settings.log_format, access=settings.log_access, node=settings.listener.url)
    registry = Registry(client_options(client), settings)
    if registry.has_credentials and not is_loopback(settings.listener.host):
        raise Failure(
            f"everybody who reaches {settings.listener.url} would have the credentials of the settings: listen on"
            " 127.0.0.1, or leave them out, so that each browser sends its own"
        )
    with traces("magicbyte-ui", settings.listener.url):
        return serve_http(
            create_app(settings, registry),
            [settings.listener],
            settings,
            log_level=settings.log_level,
            hooks=Hooks(on_start),
        )
