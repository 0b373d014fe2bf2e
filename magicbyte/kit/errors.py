"""Errors of an API as a table: code, message and status in one place, raised by name, answered by one handler."""

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
