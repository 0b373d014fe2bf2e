"""Our registry without its extensions, as another registry that speaks Confluent's API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.http.serving import serving
from tests.ui.kit.prefixing import Handler, Proxy

#: The paths that only our registry has, with or without a context.
_EXTENSIONS = re.compile(
    r"(/contexts/[^/]+)?/(overview|search|events|export|import|outline|rights|health/.*"
    r"|subjects/[^/]+/(compare|undelete|referencedby)"
    r"|subjects/[^/]+/versions/[^/]+/(outline|graph|undelete))"
)
#: The query parameters that only our registry reads; another one ignores them.
_PARAMETERS = frozenset(("every", "explain", "level", "origin"))
#: What Confluent's registry answers to a path it does not have.
_NOT_FOUND = json.dumps({"error_code": 404, "message": "HTTP 404 Not Found"}).encode()


class PlainHandler(Handler):
    """Passes on what another registry has, and answers 404 to the rest."""

    def answer(self) -> None:
        parts = urlsplit(self.path)
        if _EXTENSIONS.fullmatch(parts.path):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.finish_with(404, [("Content-Type", "application/vnd.schemaregistry.v1+json")], _NOT_FOUND)
            return
        query = [(name, value) for name, value in parse_qsl(parts.query) if name not in _PARAMETERS]
        self.path = parts._replace(query=urlencode(query)).geturl()
        del self.headers["if-match"]
        super().answer()

    do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815  the base class's names


@contextmanager
def plain_registry(url: str) -> Iterator[str]:
    """Run a proxy in front of our registry; yields its URL.

    Args:
        url: Our registry.
    """
    handler = type("PlainHandlerOfTest", (PlainHandler,), {"target": urlsplit(url).netloc})
    with serving(Proxy(("127.0.0.1", 0), handler)) as proxy_url:
        yield proxy_url
