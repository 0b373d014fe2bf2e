"""A request to a registry of several URLs: credentials, fail-over, retries, and errors as exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

import orjson

from magicbyte.kit.secret import hide_user_info
from magicbyte.kit.traces.current import outgoing_headers
from serdes.client.auth import Auth, Basic
from serdes.client.flow import Answer, Flow, Pause, Send, TransportFailure, send
from serdes.error import ConfigError, OAuthTokenError, RegistryError, RegistryUnavailable, registry_error

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
ACCEPT = f"{MEDIA_TYPE}, application/vnd.schemaregistry+json, application/json"

#: Statuses after which a retry may succeed, on another node or a moment later.
RETRIABLE = frozenset({408, 429, 500, 502, 503, 504})

#: The header with a token `<log id>:<offset>`, or `~<sealed offset>:<time>`: the node answers once it has read the log
#: up to that offset.
OFFSET_HEADER = "x-magicbyte-offset"
#: The longest wait that a registry may ask for, in seconds.
_MOST_ASKED_WAIT = 120.0
#: The error code of a node that did not read the log up to the offset in time.
_NODE_BEHIND = 503
_TOKEN = re.compile(r"[^:,\s]+:-?[0-9]{1,19}", re.ASCII)

Query = Mapping[str, str | int | bool | Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class Retry:
    """The number of retries, and the waits before them, when every URL has failed.

    Attributes:
        limit: The number of rounds over the URLs after the first round.
        wait: The most seconds before the second round, doubled for each further one; the actual wait is random.
        max_wait: The most seconds of any wait.
    """

    limit: int = 3
    wait: float = 1.0
    max_wait: float = 20.0

    def delay(self, round_: int) -> float:
        """The seconds to wait before a round, counted from 1."""
        import random  # noqa: PLC0415  # it imports hashlib and more, and retries are rare

        return random.uniform(0, min(self.max_wait, self.wait * 2 ** (round_ - 1)))  # noqa: S311  # jitter, no secret


def split_urls(urls: str | Sequence[str]) -> tuple[tuple[str, ...], Basic | None]:
    """The base URLs of a list or a comma-separated text, and the first credentials in them, if any.

    Raises:
        ConfigError: there is no URL, or one is not an http, https or mock URL.
    """
    texts = urls.split(",") if isinstance(urls, str) else list(urls)
    bases: list[str] = []
    auth: Basic | None = None
    for text in texts:
        parts = urlsplit(text.strip())
        if parts.scheme not in {"http", "https", "mock"} or (parts.scheme != "mock" and not parts.hostname):
            raise ConfigError(
                "url", f"invalid URL {hide_user_info(repr(text.strip()))}: expected http://, https:// or mock://"
            )
        if parts.username is not None:
            auth = auth or Basic(unquote(parts.username), unquote(parts.password or ""))
        host = parts.netloc.rpartition("@")[2]
        bases.append(urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")))
    if not bases:
        raise ConfigError("url", "at least one URL is needed")
    return tuple(bases), auth


def path(*segments: str | int) -> str:
    """A path of percent-encoded segments: a subject may contain slashes and colons."""
    return "".join("/" + quote(str(segment), safe="") for segment in segments)


class Requester:
    """Sends requests to the URL that answered last and, if that fails, to the others in turn.

    It sends the newest offset token of the registry's answers, so that no node answers from an older state.
    """

    def __init__(self, urls: tuple[str, ...], auth: Auth | None, retry: Retry, headers: Mapping[str, str]) -> None:
        self.urls = urls
        self.auth = auth
        self.retry = retry
        self._headers = {"Accept": ACCEPT, "User-Agent": "magicbyte", **headers}
        #: The index of the URL that answered last.
        self._current = 0
        self._offset_token: str | None = None
        self._remembering = Lock()

    def call(self, method: str, path: str, query: Query | None = None, body: object = None) -> Flow[Any]:
        """The JSON of a request's answer; query values of None and False are left out.

        Raises:
            RegistryError: the registry refused the request.
            RegistryUnavailable: no URL answered in the rounds that `retry` allows.
            OAuthTokenError: the token endpoint gave no token.
        """
        content = None if body is None else orjson.dumps(body)
        answer = yield from self._answer(method, path + _encode(query or {}), content, {})
        return _json_of(answer, method, path)

    def call_if_changed(self, path: str, etag: str | None) -> Flow[tuple[Any, str | None]]:
        """The JSON of a GET's answer, and the answer's ETag; the JSON is None if nothing has changed since an ETag.

        Raises:
            RegistryError, RegistryUnavailable, OAuthTokenError: As for `call`.
        """
        headers = {} if etag is None else {"If-None-Match": etag}
        answer = yield from self._answer("GET", path, None, headers)
        return _json_of(answer, "GET", path), answer.headers.get("etag")

    def exchange(self, method: str, path: str, query: Query | None = None, body: bytes | None = None) -> Flow[Answer]:
        """The answer as it came, for bodies that are not one JSON value; query values of None and False are left out.

        Raises:
            RegistryError, RegistryUnavailable, OAuthTokenError: As for `call`.
        """
        answer = yield from self._answer(method, path + _encode(query or {}), body, {})
        if answer.status >= 400:
            raise error_of(answer)
        return answer

    def request(self, path: str, headers: Mapping[str, str]) -> Flow[Send]:
        """A GET of the URL that answered last, with credentials, for answers that are read piece by piece."""
        sent = {**self._headers, **headers, **outgoing_headers()}
        if self.auth is not None:
            sent.update((yield from self.auth.headers(renew=False)))
        if self._offset_token is not None:
            sent[OFFSET_HEADER] = self._offset_token
        return Send("GET", self.urls[self._current] + path, sent, None)

    def require_offset(self, token: str) -> None:
        """Let no node answer from a state before an offset token, as if an answer had brought it."""
        self._remember(token)

    def _answer(self, method: str, target: str, content: bytes | None, headers: Mapping[str, str]) -> Flow[Answer]:
        attempts = 0
        reason = ""
        refusal: RegistryError | OAuthTokenError | None = None
        asked_wait = 0.0
        for round_ in range(self.retry.limit + 1):
            if round_:
                yield Pause(max(self.retry.delay(round_), asked_wait))
                asked_wait = 0.0
            for index in self._in_turn():
                attempts += 1
                url = self.urls[index]
                try:
                    answer = yield from self._attempt(Send(method, url + target, headers, content))
                except TransportFailure as failure:
                    reason, refusal = f"{url}: {failure}", None
                    continue
                except OAuthTokenError as error:
                    if error.status is not None and error.status not in RETRIABLE:
                        raise
                    refusal = error
                    continue
                if answer.status not in RETRIABLE:
                    self._current = index
                    return answer
                refusal = error_of(answer)
                asked_wait = max(asked_wait, _retry_after(answer))
                reason = f"{url}: HTTP {answer.status}: {refusal.message}"
        if isinstance(refusal, RegistryError) and refusal.code == _NODE_BEHIND:
            # The log may have been set back, for instance by a restored backup: fail once, then start without a token.
            self._offset_token = None
        # An error with a registry's error code comes from a registry that is up; any other answer does not.
        if isinstance(refusal, OAuthTokenError) or (refusal and refusal.code != RegistryError.UNKNOWN):
            raise refusal
        raise RegistryUnavailable(f"{method} {target}", self.urls, attempts, reason)

    def _attempt(self, request: Send) -> Flow[Answer]:
        answer = yield from self._authorized(request, renew=False)
        if answer.status == 401 and self.auth is not None and self.auth.renewable:
            answer = yield from self._authorized(request, renew=True)
        return answer

    def _authorized(self, request: Send, *, renew: bool) -> Flow[Answer]:
        headers = {**self._headers, **request.headers, **outgoing_headers()}
        if request.body is not None:
            headers["Content-Type"] = MEDIA_TYPE
        if self.auth is not None:
            headers.update((yield from self.auth.headers(renew=renew)))
        if self._offset_token is not None:
            headers[OFFSET_HEADER] = self._offset_token
        answer = yield from send(Send(request.method, request.url, headers, request.body))
        token = answer.headers.get(OFFSET_HEADER)
        if token is not None and _TOKEN.fullmatch(token):
            self._remember(token)
        return answer

    def _remember(self, token: str) -> None:
        """Keeps a token unless the current one is of the same log and at least as new."""
        with self._remembering:
            if self._offset_token is None or _is_newer(token, self._offset_token):
                self._offset_token = token

    def _in_turn(self) -> Iterator[int]:
        start = self._current
        for step in range(len(self.urls)):
            yield (start + step) % len(self.urls)


def _retry_after(answer: Answer) -> float:
    """The seconds to wait by the header Retry-After; 0 without one, or if it is a date."""
    text = answer.headers.get("retry-after", "")
    return min(float(text), _MOST_ASKED_WAIT) if text.isascii() and text.isdecimal() else 0.0


def _json_of(answer: Answer, method: str, path: str) -> Any:
    if answer.status >= 400:
        raise error_of(answer)
    if not answer.body:
        return None
    try:
        return orjson.loads(answer.body)
    except ValueError as error:
        message = f"the answer to {method} {path} is not JSON: {answer.body[:200].decode(errors='replace')}"
        raise RegistryError(answer.status, 50005, message) from error


def _is_newer(token: str, other: str) -> bool:
    log_id, _, offset = token.rpartition(":")
    other_log_id, _, other_offset = other.rpartition(":")
    is_ordered = log_id == other_log_id or (log_id.startswith("~") and other_log_id.startswith("~"))
    return not is_ordered or int(offset) > int(other_offset)


def _encode(query: Query) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        if value is None or value is False:
            continue
        if value is True:
            pairs.append((name, "true"))
        elif isinstance(value, str | int):
            pairs.append((name, str(value)))
        else:
            pairs.extend((name, item) for item in value)
    return "?" + urlencode(pairs) if pairs else ""


def error_of(answer: Answer) -> RegistryError:
    """The error of an answer whose status is 400 or above."""
    try:
        body = orjson.loads(answer.body)
        code, message = int(body["error_code"]), str(body["message"])
    except (ValueError, KeyError, TypeError):
        code, message = RegistryError.UNKNOWN, answer.body[:500].decode(errors="replace") or "no body"
        return registry_error(answer.status, code, message)
    return registry_error(answer.status, code, message, body.get("explanations") or ())
