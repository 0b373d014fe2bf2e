"""Errors of an HTTP API as a table: code, message and status in one place, raised by name, answered by one handler."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One row of an API's error table; calling it makes the error to raise.

    Attributes:
        code: The `error_code` of the answer.
        message: The `message` of the answer, with `{name}` for each field.
        status: The HTTP status where it is not the code itself (below 600) or its first three digits.
    """

    code: int
    message: str
    status: int | None = None

    @property
    def http_status(self) -> int:
        """The HTTP status that goes with the code."""
        if self.status is not None:
            return self.status
        return self.code if self.code < 600 else self.code // 100

    def __call__(self, **fields: object) -> ApiError:
        """Make an error of this kind with the values of its message's fields."""
        return ApiError(self, fields)


@dataclass(unsafe_hash=True)
class ApiError(Exception):
    """An error that is answered with its kind's status, code and message; equal where kind and fields are."""

    kind: ErrorKind
    fields: dict[str, object] = field(default_factory=dict, hash=False)
    #: What the answer's object carries besides, such as explanations.
    extra: dict[str, object] = field(default_factory=dict, hash=False, compare=False)
    #: Headers that the answer carries besides, such as Retry-After.
    headers: dict[str, str] = field(default_factory=dict, hash=False, compare=False)

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""
        return self.kind.http_status

    @property
    def code(self) -> int:
        """The `error_code` of the answer."""
        return self.kind.code

    @property
    def message(self) -> str:
        """The `message` of the answer."""
        return self.kind.message.format(**self.fields)

    def body(self) -> dict[str, object]:
        """The answer's JSON object."""
        return {"error_code": self.code, "message": self.message, **self.extra}

    def with_headers(self, **headers: str) -> ApiError:
        """The same error, answered with more headers; `_` in a name stands for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return ApiError(self.kind, self.fields, self.extra, {**self.headers, **named})

    def with_extra(self, **extra: object) -> ApiError:
        """The same error, answered with more fields in its object."""
        return ApiError(self.kind, self.fields, {**self.extra, **extra}, self.headers)

    def __str__(self) -> str:
        return self.message


NOT_FOUND = ErrorKind(404, "HTTP 404 Not Found")
METHOD_NOT_ALLOWED = ErrorKind(405, "HTTP 405 Method Not Allowed")
NOT_ACCEPTABLE = ErrorKind(406, "HTTP 406 Not Acceptable")
UNSUPPORTED_MEDIA_TYPE = ErrorKind(415, "HTTP 415 Unsupported Media Type")
BODY_TOO_LARGE = ErrorKind(413, "HTTP 413 Request Entity Too Large")
MALFORMED_BODY = ErrorKind(400, "{detail}")
BAD_REQUEST = ErrorKind(400, "{detail}")
FORBIDDEN = ErrorKind(403, "Forbidden")
FOREIGN_ORIGIN = ErrorKind(
    403, "Requests from pages of {origin} are refused: access.control.allow.origin does not allow {what}"
)
REQUEST_TIMEOUT = ErrorKind(408, "The request was not complete in time: {detail}")
TARGET_TOO_LONG = ErrorKind(414, "The request target is longer than {limit} bytes")
MISDIRECTED = ErrorKind(
    421, "This server is not {host}; if it is known by that name too, add the name to magicbyte.allowed.hosts"
)
HEAD_TOO_LARGE = ErrorKind(431, "The request's head is larger than {limit}")
TOO_MANY_CONNECTIONS = ErrorKind(503, "Too many connections")
INTERNAL = ErrorKind(500, "Internal Server Error")

#: What a framework's bare status is answered as.
BY_STATUS = {kind.code: kind for kind in (NOT_FOUND, METHOD_NOT_ALLOWED, NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE)}
