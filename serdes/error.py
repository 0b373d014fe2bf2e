"""The exceptions of serdes.

SerdesError
├── ConfigError                  a setting is unknown, of the wrong type, or contradicts another
├── RegistryError                the registry answered with an error
│   ├── SubjectNotFound          40401
│   ├── VersionNotFound          40402
│   ├── SchemaNotFound           40403
│   ├── IncompatibleSchema       409, 40901
│   ├── SchemaRefused            42201
│   └── NotAuthorized            401, 403
├── RegistryUnavailable          no URL of the registry answered
├── OAuthTokenError              the token endpoint returned no token
├── SchemaCompileError           a schema's text cannot be compiled to a codec
├── ValidationUnavailable        no worker process could validate a datum
└── SerializationError
    ├── WireError                the bytes before the payload are not a frame
    │   ├── TruncatedMessage
    │   ├── WrongMagic
    │   └── InvalidMessageIndexes
    ├── DatumMismatch            a datum does not fit its schema
    │   └── DatumRefused         a JSON Schema refuses the datum
    ├── PayloadError             the payload is not what its schema says
    ├── IncompatibleReader       the registry's schema cannot read data of the serializer's own schema
    ├── RulesNotSupported        the schema has rules, and the caller carries none out
    ├── RuleFailed               a rule stopped the message; in `serdes.rules.error`
    └── WrongSchemaType          the id belongs to a schema of another type
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class SerdesError(Exception):
    """The base class of all exceptions of this package."""


@dataclass(unsafe_hash=True)
class ConfigError(SerdesError, ValueError):
    """An invalid configuration; `name` is the setting at fault.

    `place` is the file and line, or the environment variable, if a command has the setting from there.
    """

    name: str
    problem: str
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.place, self.name, self.problem)))


@dataclass(unsafe_hash=True)
class RegistryError(SerdesError):
    """An error response of the registry: HTTP status, error code (-1 if the response has none) and message.

    `explanations` are the registry's, if a client that asks for them had a schema refused.
    """

    status: int
    code: int
    message: str
    explanations: Sequence[Mapping[str, Any]] = field(default=(), compare=False)

    #: The code for a response that does not come from a registry.
    UNKNOWN = -1

    def __str__(self) -> str:
        return f"{self.message} (HTTP status code {self.status}, SR code {self.code})"

    @property
    def http_status_code(self) -> int:
        """The status, by confluent-kafka's name."""
        return self.status

    @property
    def error_code(self) -> int:
        """The code, by confluent-kafka's name."""
        return self.code

    @property
    def error_message(self) -> str:
        """The message, by confluent-kafka's name."""
        return self.message


class SubjectNotFound(RegistryError):
    """The subject has no visible version (40401)."""


class VersionNotFound(RegistryError):
    """The subject has no such version (40402)."""


class SchemaNotFound(RegistryError):
    """No schema has this id or guid, or the subject does not hold the schema (40403)."""


class IncompatibleSchema(RegistryError):
    """The subject's compatibility level refuses the schema; the message holds the reasons (409 or 40901)."""


class SchemaRefused(RegistryError):
    """The registry cannot parse the schema, or refuses its content (42201)."""


class NotAuthorized(RegistryError):
    """The registry refuses the credentials, or they lack a permission (HTTP 401 and 403)."""


#: The classes of error codes; see section "Errors" of the registry's API.
REGISTRY_ERRORS: Mapping[int, type[RegistryError]] = {
    401: NotAuthorized,
    403: NotAuthorized,
    409: IncompatibleSchema,
    40101: NotAuthorized,
    40301: NotAuthorized,
    40401: SubjectNotFound,
    40402: VersionNotFound,
    40403: SchemaNotFound,
    40901: IncompatibleSchema,
    42201: SchemaRefused,
}

#: confluent-kafka's name.
SchemaRegistryError = RegistryError


def registry_error(
    status: int, code: int, message: str, explanations: Sequence[Mapping[str, Any]] = ()
) -> RegistryError:
    """The exception for an error response: by its code, else by its status."""
    kind = REGISTRY_ERRORS.get(code) or REGISTRY_ERRORS.get(status, RegistryError)
    return kind(status, code, message, explanations)


@dataclass(unsafe_hash=True)
class RegistryUnavailable(SerdesError, ConnectionError):
    """No URL of the registry gave a usable response in the attempts that `retry` allows."""

    request: str
    urls: tuple[str, ...]
    attempts: int
    #: The failure of the last attempt.
    reason: str

    def __str__(self) -> str:
        return (
            f"schema registry unavailable: {self.request} failed {self.attempts} times at "
            f"{', '.join(self.urls)}; last failure: {self.reason}"
        )


@dataclass(unsafe_hash=True)
class OAuthTokenError(SerdesError):
    """The OAuth token endpoint returned no token; `status` is None if it did not answer."""

    url: str
    status: int | None
    reason: str

    def __str__(self) -> str:
        status = "" if self.status is None else f" (HTTP status code {self.status})"
        return f"no token from {self.url}{status}: {self.reason}"


@dataclass(unsafe_hash=True)
class SchemaCompileError(SerdesError, ValueError):
    """A schema's text that cannot be compiled to an encoder, decoder or validator."""

    schema_type: str
    detail: str

    def __str__(self) -> str:
        return f"{self.schema_type} schema cannot be compiled: {self.detail}"


class ValidationUnavailable(SerdesError):
    """A validation needs a worker process and there is none; the message may be valid."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"validation is unavailable: {reason}")


class SerializationError(SerdesError, ValueError):
    """A message that cannot be serialized or deserialized."""


class WireError(SerializationError):
    """The bytes before a payload are not a frame of the wire format."""


@dataclass(unsafe_hash=True)
class TruncatedMessage(WireError):
    """A message shorter than its frame: `part` needs `needed` bytes, the message has `size`."""

    part: str
    needed: int
    size: int

    def __str__(self) -> str:
        return f"truncated message: {self.part} needs {self.needed} bytes, the message has {self.size}"


@dataclass(unsafe_hash=True)
class WrongMagic(WireError):
    """The first byte is not one of the wire format's magic bytes."""

    magic: int
    expected: tuple[int, ...]

    def __str__(self) -> str:
        expected = " or ".join(str(byte) for byte in self.expected)
        return f"unknown magic byte {self.magic}: expected {expected}; the message was not written with a schema id"


@dataclass(unsafe_hash=True)
class InvalidMessageIndexes(WireError):
    """Protobuf message indexes that are not a path to a message in the schema."""

    problem: str

    def __str__(self) -> str:
        return f"invalid Protobuf message indexes: {self.problem}"


@dataclass(unsafe_hash=True)
class DatumMismatch(SerializationError):
    """A datum that does not fit its schema.

    `path` leads to the value, `value_type` is that value's Python type and `expected` the type the schema has there.
    """

    path: str
    value_type: str
    expected: str

    def __str__(self) -> str:
        return (
            f"datum does not fit the schema: {self.path or 'the datum'} is {self.value_type}, expected {self.expected}"
        )


class DatumRefused(DatumMismatch):
    """A datum that its JSON Schema refuses; `expected` is the reason."""

    def __str__(self) -> str:
        return f"datum does not fit the schema: {self.path}: {self.expected}"


@dataclass(unsafe_hash=True)
class PayloadError(SerializationError):
    """A payload that does not match its schema: truncated, with bytes left over, or invalid at `offset`."""

    problem: str
    #: The number of bytes from the message's start; None if unknown.
    offset: int | None = None

    def __str__(self) -> str:
        at = "" if self.offset is None else f" at byte {self.offset}"
        return f"payload does not fit the schema: {self.problem}{at}"


@dataclass(unsafe_hash=True)
class ValueTooLarge(SerializationError):
    """A value whose JSON text would have more bytes than the caller takes."""

    most_bytes: int

    def __str__(self) -> str:
        return f"its JSON has more than {self.most_bytes} bytes"


@dataclass(unsafe_hash=True)
class RulesNotSupported(SerializationError):
    """A schema with rules that clients must carry out, met by a caller that carries no rules out."""

    schema: str
    rules: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.schema} has rules that this library does not carry out: {', '.join(self.rules)}"


@dataclass(unsafe_hash=True)
class WrongSchemaType(SerializationError):
    """A schema of a type that this serializer or deserializer does not support."""

    schema: str
    schema_type: str
    expected: str

    def __str__(self) -> str:
        return f"{self.schema} is of type {self.schema_type}, expected {self.expected}"


@dataclass(unsafe_hash=True)
class IncompatibleReader(SerializationError):
    """The registry's schema cannot read data of the serializer's own schema; `setting` switches the check.

    `example` is a datum that shows this, and its effect on a reader; empty if there is none.
    """

    schema: str
    setting: str
    differences: tuple[str, ...]
    example: str = ""

    def __str__(self) -> str:
        shown = f"for example {self.example} " if self.example else ""
        return (
            f"{self.schema} cannot read data of the serializer's own schema: {'; '.join(self.differences)}; {shown}"
            f"set {self.setting}=false to disable this check"
        )
