"""The error table of an API: code, message and status in each row; one handler turns raised errors into responses."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One row of an API's error table; calling it returns the error to raise.

    Attributes:
        code: The `error_code` of the response.
        message: The `message` of the response, with a placeholder `{name}` for each field.
        status: The HTTP status; None means the code itself if it is below 600, else its first three digits.
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
        """Return an error of this kind; `fields` fill the placeholders of the message."""
        return ApiError(self, fields)


@dataclass(unsafe_hash=True)
class ApiError(Exception):
    """An error whose response has the status, code and message of its kind; equal if kind and fields are equal."""

    kind: ErrorKind
    fields: dict[str, object] = field(default_factory=dict, hash=False)
    #: More fields of the response's JSON object, such as explanations.
    extra: dict[str, object] = field(default_factory=dict, hash=False, compare=False)
    #: More headers of the response, such as Retry-After; a name may be repeated.
    headers: tuple[tuple[str, str], ...] = field(default=(), hash=False, compare=False)

    @property
    def status(self) -> int:
        """The HTTP status of the response."""
        return self.kind.http_status

    @property
    def code(self) -> int:
        """The `error_code` of the response."""
        return self.kind.code

    @property
    def message(self) -> str:
        """The `message` of the response."""
        return self.kind.message.format(**self.fields)

    def body(self) -> dict[str, object]:
        """The response's JSON object."""
        return {"error_code": self.code, "message": self.message, **self.extra}

    def with_headers(self, **headers: str) -> ApiError:
        """Return the same error with more headers; `_` in a name means `-`."""
        hyphenated = ((name.replace("_", "-"), value) for name, value in headers.items())
        return ApiError(self.kind, self.fields, self.extra, (*self.headers, *hyphenated))

    def header_lines(self) -> list[tuple[bytes, bytes]]:
        """Return the headers as ASGI has them: names in lower case, and a line for each."""
        return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers]

    def with_extra(self, **extra: object) -> ApiError:
        """Return the same error with more fields in its JSON object."""
        return ApiError(self.kind, self.fields, {**self.extra, **extra}, self.headers)

    def __str__(self) -> str:
        return self.message
