"""Access of web pages of other origins: CORS for allowed origins, and refusal of writes from all others."""

from __future__ import annotations

from collections.abc import Callable

from magicbyte.http.allowed_origins import AccessControl
from magicbyte.http.asgi import ASGIApp, Message, Receive, Scope, Send, header, list_header
from magicbyte.http.errors import FORBIDDEN, FOREIGN_ORIGIN
from magicbyte.http.routing.recorder import Recorder

_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
#: Values of Sec-Fetch-Site for requests that do not come from a page of another origin.
_OWN_SITES = frozenset(("same-origin", "none"))
#: Headers that any page may send (Fetch, CORS-safelisted request-header).
_SAFELISTED = frozenset(("accept", "accept-language", "content-language"))
#: How long a browser may cache the answer to a preflight request, in seconds.
_MAX_AGE = b"1800"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class CrossOrigin:
    """Serves browsers: refuses writes of foreign pages, and tells browsers what allowed pages may read and send.

    Browsers send some writes without a preflight request, such as a POST of plain text. Such a write would take effect
    before the browser learns that the page may not read the answer, so it is refused here.
    """

    def __init__(
        self,
        app: ASGIApp,
        rules: AccessControl,
        recorder: Recorder,
        is_safe: Callable[[bytes], bool],
        is_for_own_pages: Callable[[bytes], bool],
    ) -> None:
        """Guard an application.

        Args:
            app: Serves the allowed requests.
            rules: Decides which requests are allowed.
            recorder: Counts and logs the requests that are answered here.
            is_safe: Tells whether a GET of a path changes nothing.
            is_for_own_pages: Tells whether foreign pages are refused at a path, whatever the rules say.
        """
        self.app = app
        self._rules = rules
        self._recorder = recorder
        self._is_safe = is_safe
        self._is_for_own_pages = is_for_own_pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        origin, method = header(scope, b"origin"), scope["method"]
        if self._is_for_own_pages(scope["raw_path"]):
            if is_foreign(scope):
                await self._refuse_page(scope, send, "them at this path")
            else:
                await self.app(scope, receive, send)
            return
        is_allowed = self._rules.allows(origin)
        if is_allowed and self._is_preflight(scope):
            await self._answer_preflight(scope, send)
        elif self._is_unsafe(scope) and is_foreign(scope) and not (is_allowed and method in self._rules.methods):
            await self._refuse_page(scope, send, f"{method} for them" if is_allowed else "them")
        elif is_allowed:
            await self.app(scope, receive, self._with_cors_headers(scope, send))
        else:
            await self.app(scope, receive, send)

    def _is_preflight(self, scope: Scope) -> bool:
        if scope["method"] != "OPTIONS" or self._rules.rejects_options:
            return False
        return header(scope, b"access-control-request-method") is not None

    def _is_unsafe(self, scope: Scope) -> bool:
        return scope["method"] not in _SAFE or not self._is_safe(scope["raw_path"])

    async def _answer_preflight(self, scope: Scope, send: Send) -> None:
        method = header(scope, b"access-control-request-method")
        requested = list_header(scope, b"access-control-request-headers") or ""
        names = {name.strip().lower() for name in requested.split(",")} - {""}
        disallowed = sorted(names - _SAFELISTED - set(self._rules.headers))
        if method not in self._rules.methods:
            await self._refuse_page(scope, send, f"{method} for them (access.control.allow.methods)")
            return
        if disallowed:
            await self._refuse_page(scope, send, f"{', '.join(disallowed)} for them (access.control.allow.headers)")
            return
        headers = [
            *self._headers(scope),
            (b"access-control-allow-methods", ",".join(self._rules.methods).encode()),
            (b"access-control-allow-headers", ",".join(self._rules.headers).encode()),
            (b"access-control-max-age", _MAX_AGE),
            (b"content-length", b"0"),
        ]
        self._recorder.unrouted(200)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _with_cors_headers(self, scope: Scope, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *self._headers(scope)]}
            await send(message)

        return send_with_headers

    async def _refuse_page(self, scope: Scope, send: Send, denied: str) -> None:
        origin = header(scope, b"origin") or f"a {header(scope, b'sec-fetch-site')} origin"
        await self._recorder.refuse(scope, send, FOREIGN_ORIGIN(origin=origin, denied=denied))

    def _headers(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        if "*" in self._rules.origins:
            return [(b"access-control-allow-origin", b"*")]
        origin = header(scope, b"origin") or ""
        return [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-allow-credentials", b"true"),
            (b"vary", b"Origin"),
        ]


def is_foreign(scope: Scope) -> bool:
    """Tell whether a page of another origin made a request.

    Browsers say so in Sec-Fetch-Site. They omit it for plain-http URLs of other machines; then the Origin is compared
    with the Host.
    """
    site = header(scope, b"sec-fetch-site")
    if site is not None:
        return site not in _OWN_SITES
    origin = header(scope, b"origin")
    return origin is not None and _authority(origin) != _authority(f"{scope['scheme']}://{header(scope, b'host')}")


def _authority(url: str) -> str:
    """Return host and port of a URL; an empty string if the text is not a URL, such as the Origin `null`."""
    scheme, _, rest = url.lower().partition("://")
    return rest.removesuffix(_DEFAULT_PORTS.get(scheme, "\0"))


def rejecting_options(app: ASGIApp, recorder: Callable[[], Recorder]) -> ASGIApp:
    """Wrap an application so that OPTIONS requests are refused (`reject.options.request`)."""

    async def without_options(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            await recorder().refuse(scope, send, FORBIDDEN())
        else:
            await app(scope, receive, send)

    return without_options
