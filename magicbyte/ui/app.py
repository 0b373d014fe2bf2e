"""The page's routes: its files, its configuration, and the REST proxy behind it."""

from __future__ import annotations

from functools import partial
from urllib.parse import unquote

import orjson
from starlette.responses import Response

from magicbyte import __version__
from magicbyte.http.asgi import header
from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.access import OPEN, SIGNED_IN
from magicbyte.http.routing.beside import Beside
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Row
from magicbyte.security.tls.context import client_context
from magicbyte.ui import errors
from magicbyte.ui.caller import client_of_sender
from magicbyte.ui.decode import decode_routes
from magicbyte.ui.files import File, Files
from magicbyte.ui.rest import Upstream

_FOLDER = "/ui/"
#: What the page may do in a browser: load its own files, and send requests to its own server.
_POLICY = b"; ".join(
    (
        b"default-src 'none'",
        b"script-src 'self'",
        b"style-src 'self'",
        b"img-src 'self' data:",
        b"font-src 'self'",
        b"connect-src 'self'",
        b"base-uri 'none'",
        b"form-action 'none'",
        b"frame-ancestors 'none'",
        b"require-trusted-types-for 'script'",
    )
)
_HEADERS = {"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
#: The resources of the REST proxy that the page uses.
_OF_REST = frozenset(("topics", "brokers", "consumers", "v3"))
_READS = frozenset(("GET", "HEAD"))


def beside(settings: PageSettings) -> Beside:
    """The page's routes, for the server whose API the page shows."""
    page = Page(settings, registry_base="../")
    return Beside(page.rows(), front=_FOLDER.removeprefix("/"), close=page.close)


class Page:
    """The handlers of the page's routes."""

    def __init__(self, settings: PageSettings, *, registry_base: str) -> None:
        """Read the files.

        Args:
            settings: The name of the page, what it may change, and the REST proxy behind it.
            registry_base: The registry's address relative to `/ui/`.
        """
        self._files = Files()
        self._is_read_only = settings.page_read_only
        self._rest: Upstream | None = None
        if settings.rest_url:
            tls = partial(client_context, settings, shows_certificate=False)
            self._rest = Upstream("REST proxy", settings.rest_url, tls)
        self._helpers = decode_routes(client_of_sender)
        self._config = orjson.dumps(
            {
                "name": settings.page_name,
                "color": settings.page_color,
                "readOnly": settings.page_read_only,
                "restAvailable": self._rest is not None,
                "registryBase": registry_base,
                "version": __version__,
                "features": [],
            }
        )

    def rows(self) -> tuple[Row, ...]:
        """The routes; the files and the configuration need no sign-in, because they contain no data."""
        rest = partial(Row, access=SIGNED_IN, handler=self.rest, media_types=_json, has_deadline=False)
        path = f"{_FOLDER}rest/{{path:path}}"
        helper = partial(Row, "POST", access=SIGNED_IN, handler=self.helper, media_types=_json, has_deadline=False)
        return (
            Row("GET", "/ui", "getPage", OPEN, self.file, _json, page_policy=_POLICY),
            Row("GET", f"{_FOLDER}{{path:path}}", "getPageFile", OPEN, self.file, _json, page_policy=_POLICY),
            Row("GET", f"{_FOLDER}config.json", "getPageConfig", OPEN, self.config, _json, page_policy=_POLICY),
            rest("GET", path, "readFromRestProxy"),
            rest("POST", path, "postToRestProxy"),
            rest("DELETE", path, "deleteFromRestProxy"),
            helper(f"{_FOLDER}decode", "decodeMessages"),
            helper(f"{_FOLDER}encode", "encodeMessages"),
            helper(f"{_FOLDER}example", "makeExampleMessage"),
        )

    async def close(self) -> None:
        """Close the connections to other servers."""
        if self._rest is not None:
            await self._rest.close()

    async def file(self, request: Request) -> Response:
        """A file of the page; index.html for the URLs of the page itself."""
        path = _path_of(request)
        if path is None:
            # Links of the page are relative to its folder.
            return Response(status_code=303, headers={"Location": _FOLDER.removeprefix("/")})
        file = self._files.find(path)
        if file is not None:
            return _answer(request, file)
        if self._files.is_file_path(path):
            raise NOT_FOUND()
        return _answer(request, self._files.page(path))

    async def config(self, _request: Request) -> Response:
        """What the page is called, and what it may do."""
        return Response(self._config, media_type="application/json", headers={"Cache-Control": "no-store"})

    async def helper(self, request: Request) -> Response:
        """Messages that the serdes decode, encode or make up, with schemas that the sender may read."""
        name = (_path_of(request) or "").partition("/")[0]
        answer = await self._helpers[name](request.scope, await request.body())
        return Response(answer.body, answer.status, media_type="application/json")

    async def rest(self, request: Request) -> Response:
        """The REST proxy's answer.

        Raises:
            ApiError: 403 for writes if the page may only read, 404 without a REST proxy and for other resources, 502
                and 504 if the proxy does not answer.
        """
        path = (_path_of(request) or "").removeprefix("rest")
        segments = path.split("/")[1:]
        if segments[0] not in _OF_REST or _leads_elsewhere(segments):
            raise NOT_FOUND()
        if self._rest is None:
            raise errors.NO_REST_PROXY()
        if self._is_read_only and request.method not in _READS:
            raise errors.READ_ONLY()
        return await self._rest.pass_on(request, path)


def _json(request: Request) -> None:
    """Let errors be JSON; the handlers set the media types of other answers."""
    request.media_type = "application/json"


def _path_of(request: Request) -> str | None:
    """The request's path below `/ui/` as it was sent; None for `/ui` itself.

    Raises:
        ApiError: 404 if the path begins with something else, such as a context of the registry.
    """
    path: str = request.scope["raw_path"].partition(b"?")[0].decode("latin-1")
    if path == _FOLDER.removesuffix("/"):
        return None
    if not path.startswith(_FOLDER):
        raise NOT_FOUND()
    return path.removeprefix(_FOLDER)


def _leads_elsewhere(segments: list[str]) -> bool:
    """Whether a server that resolves dot segments would find another resource."""
    return any(unquote(segment) in (".", "..") for segment in segments)


def _answer(request: Request, file: File) -> Response:
    headers = {**_HEADERS, "ETag": file.etag}
    if file.etag in (header(request.scope, b"if-none-match") or ""):
        return Response(status_code=304, headers=headers)
    body = file.body
    if file.compressed is not None and "gzip" in (header(request.scope, b"accept-encoding") or ""):
        body = file.compressed
        headers["Content-Encoding"] = "gzip"
    return Response(body, media_type=file.media_type, headers=headers)
