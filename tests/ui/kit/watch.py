"""Watches a browser's pages: whatever goes wrong unnoticed fails the test."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Response

#: Chromium writes one of these for every answer >= 400, which `Watch` reports itself.
_FAILED_LOAD = re.compile(r"Failed to load resource: the server responded with a status of (\d+)")


@dataclass
class Watch:
    """Collects problems of the pages of a browser context.

    Problems are console errors and warnings (violations of the Content-Security-Policy among them), exceptions and
    unhandled rejections, requests to other hosts, and answers >= 400 that the test has not named:

        watch.expect(404, "/subjects/gone-value/versions/latest")
        watch.expect(409)
    """

    hosts: set[str]
    problems: list[str] = field(default_factory=list)
    #: The requests so far, as `GET /subjects`.
    requests: list[str] = field(default_factory=list)
    _expected: list[tuple[int, str]] = field(default_factory=list)
    _allowed_texts: list[str] = field(default_factory=list)

    def expect(self, status: int, path: str = "") -> None:
        """Let answers with a status be no problem, if their path has this text in it."""
        self._expected.append((status, path))

    def allow_text(self, text: str) -> None:
        """Let messages of the console with this text be no problem."""
        self._allowed_texts.append(text)

    def count(self, prefix: str) -> int:
        """The number of requests, written as `GET /subjects`, that began with this text."""
        return sum(request.startswith(prefix) for request in self.requests)

    def watch(self, context: BrowserContext) -> None:
        """Watch all pages of a context."""
        context.on("page", self._watch_page)
        context.on("response", self._on_response)
        context.on("requestfailed", lambda request: self._on_failed(request.url, request.failure or ""))
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.problems.append(f"exception: {error.error}"))

    def check(self) -> None:
        """Fail if there was a problem."""
        assert not self.problems, "in the browser:\n" + "\n".join(self.problems)

    def _watch_page(self, page: Page) -> None:
        page.on("request", lambda request: self._on_request(request.method, request.url))

    def _on_request(self, method: str, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("data", "blob"):
            return
        self.requests.append(f"{method} {parts.path}" + (f"?{parts.query}" if parts.query else ""))
        if parts.netloc not in self.hosts:
            self.problems.append(f"a request to another host: {method} {url}")

    def _on_response(self, response: Response) -> None:
        if response.status < 400:
            return
        path = urlsplit(response.url).path
        if not any(status == response.status and part in path for status, part in self._expected):
            self.problems.append(f"{response.request.method} {response.url} was answered {response.status}")

    def _on_failed(self, url: str, failure: str) -> None:
        # A page that is left, or a request that a newer one replaces, is aborted.
        if "ERR_ABORTED" not in failure and not any(text in failure for text in self._allowed_texts):
            self.problems.append(f"{url} failed: {failure}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning") or _FAILED_LOAD.match(message.text):
            return
        if not any(text in message.text for text in self._allowed_texts):
            self.problems.append(f"console {message.type}: {message.text}")
