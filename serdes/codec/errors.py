"""The errors of the Avro codecs: each names the place in the datum, the actual value and the expected type."""

from __future__ import annotations


class SchemaError(ValueError):
    """A schema text that cannot be compiled to a codec; `detail` says why."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class EncodeError(ValueError):
    """A datum that does not fit its schema.

    Attributes:
        path: The place in the datum, such as `$.address.lines[3]`.
        value_type: The name of the type of the value at the path; `nothing` if a field is missing.
        expected: The type that the schema has there, in words.
        detail: More than the two types tell, or an empty text.
    """

    def __init__(self, path: str, value_type: str, expected: str, detail: str = "") -> None:
        super().__init__(f"{path}: {value_type} does not fit {expected}" + (f" ({detail})" if detail else ""))
        self.path = path
        self.value_type = value_type
        self.expected = expected
        self.detail = detail


class DecodeError(ValueError):
    """Bytes that do not match their schema, or that the reader's schema cannot represent.

    Attributes:
        path: The place in the datum, such as `$.address.lines[3]`.
        position: The offset in the buffer of the value at the path.
        expected: The type that the schema has there, in words.
        detail: The fault, in words.
    """

    def __init__(self, path: str, position: int, expected: str, detail: str) -> None:
        super().__init__(f"{path} at byte {position}: {detail} ({expected} expected)")
        self.path = path
        self.position = position
        self.expected = expected
        self.detail = detail


def key_path(path: str, key: object) -> str:
    """The path of a map's value under `key`."""
    return f"{path}[{key!r:.80}]"
