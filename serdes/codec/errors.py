"""What the Avro codecs raise: each names the place in the datum, what was found and what the schema expects."""

from __future__ import annotations


class SchemaError(ValueError):
    """A schema text that no codec can be made of; `detail` says why."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class EncodeError(ValueError):
    """A datum that does not fit its schema.

    Attributes:
        path: Where in the datum, such as `$.address.lines[3]`.
        value_type: The name of the type of the value at the path, `nothing` where a field is missing.
        expected: What the schema asks for there, in the schema's words.
        detail: More than the types say, or an empty text.
    """

    def __init__(self, path: str, value_type: str, expected: str, detail: str = "") -> None:
        super().__init__(f"{path}: {value_type} does not fit {expected}" + (f" ({detail})" if detail else ""))
        self.path = path
        self.value_type = value_type
        self.expected = expected
        self.detail = detail


class DecodeError(ValueError):
    """Bytes that are not what their schema says, or that the reader's schema cannot take.

    Attributes:
        path: Where in the datum, such as `$.address.lines[3]`.
        position: The offset in the buffer of the value at the path.
        expected: What the schema asks for there.
        detail: What is wrong.
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
