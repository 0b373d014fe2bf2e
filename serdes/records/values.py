"""Values in generated records that Python has no type for."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

Name_co = TypeVar("Name_co", bound=str, covariant=True)
Value_co = TypeVar("Value_co", covariant=True)

_DURATION = struct.Struct("<III")
_MAX_UNSIGNED = 2**32 - 1


class Unset(Enum):
    """The type of UNSET."""

    UNSET = "UNSET"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNSET"


#: An optional property that is absent; None is a property that is null.
UNSET: Final = Unset.UNSET


# Not frozen: `Branch[Literal["long"], int]("long", 5)` then raises TypeError in Python 3.11.
@dataclass(unsafe_hash=True, slots=True)
class Branch(Generic[Name_co, Value_co]):
    """A union's value with the name of its branch, if the value's Python type does not tell the branch.

    Attributes:
        name: The full name of a named type, or the name of the Avro type, such as `long`.
        value: The value.
    """

    name: Name_co
    value: Value_co


@dataclass(frozen=True, slots=True)
class Duration:
    """Avro's duration: three independent numbers of 32 bits without sign.

    Raises:
        ValueError: A number is negative or has more than 32 bits.
    """

    months: int = 0
    days: int = 0
    millis: int = 0

    def __post_init__(self) -> None:
        for name in ("months", "days", "millis"):
            number = getattr(self, name)
            if not isinstance(number, int) or not 0 <= number <= _MAX_UNSIGNED:
                raise ValueError(f"{name} of a duration must be a number from 0 to {_MAX_UNSIGNED}")

    @classmethod
    def from_bytes(cls, stored: bytes) -> Self:
        """The duration that Avro stores in 12 bytes.

        Raises:
            ValueError: They are not 12 bytes.
        """
        if len(stored) != _DURATION.size:
            raise ValueError(f"a duration has {_DURATION.size} bytes, not {len(stored)}")
        return cls(*_DURATION.unpack(stored))

    def to_bytes(self) -> bytes:
        """The 12 bytes that Avro stores."""
        return _DURATION.pack(self.months, self.days, self.millis)


class Fixed(bytes):
    """The base class of Avro's fixed types: bytes of the size that the schema gives.

    Raises:
        TypeError: The value is not bytes.
        ValueError: It has another size.
    """

    __slots__ = ()
    __size__: ClassVar[int]

    def __new__(cls, value: bytes | bytearray | memoryview) -> Self:
        """The value, checked."""
        if not isinstance(value, bytes | bytearray | memoryview):
            raise TypeError(f"{cls.__name__} takes bytes, not {type(value).__name__}")
        made = super().__new__(cls, value)
        if len(made) != cls.__size__:
            raise ValueError(f"{cls.__name__} has {cls.__size__} bytes, not {len(made)}")
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}({bytes(self)!r})"


class Symbols(StrEnum):
    """The base class of enumerations. `__default__` stands for symbols that the schema does not have."""

    __default__: ClassVar[str | None]

    @classmethod
    def _missing_(cls, value: object) -> Any:
        default = cls.__dict__.get("__default__")
        return cls(default) if isinstance(default, str) and isinstance(value, str) and value != default else None
