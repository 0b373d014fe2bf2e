"""The shapes of columns: what a Spark value of a schema is to rules, and where the fields are that rules select."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum, auto

from compat.contracts.walk.leaf import PRIMITIVE


class Kind(StrEnum):
    """The type of a scalar in CEL."""

    BOOL = auto()
    INT = auto()
    DOUBLE = auto()
    #: A long or a double, whichever the JSON had.
    NUMBER = auto()
    STRING = auto()
    BYTES = auto()
    #: Microseconds since 1970, as a long.
    TIMESTAMP = auto()
    #: Microseconds, as a long.
    DURATION = auto()
    NULL = auto()
    #: A value that only the engine knows, such as a decimal.
    OPAQUE = auto()


class Form(StrEnum):
    """Spark's form of a scalar, if its type alone does not say how rules see it."""

    PLAIN = auto()
    #: LongType, even if the type name is INT.
    WHOLE = auto()
    #: DateType; a number of days to rules.
    DATE = auto()
    #: TimestampType.
    INSTANT = auto()
    #: TimestampNTZType, as if in UTC.
    LOCAL = auto()
    DECIMAL = auto()


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value without parts.

    Attributes:
        kind: Its type in CEL.
        type_name: The type name that rules see, such as INT.
        nullable: Whether null is a value.
        form: How Spark holds it.
    """

    kind: Kind
    type_name: str
    nullable: bool = False
    form: Form = Form.PLAIN


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record.

    Attributes:
        name: Its name, in the schema and in Spark.
        full_name: The full name that rules see.
        shape: The shape of its values.
        tags: Its tags, inline ones and those of the metadata.
        may_be_absent: Whether a NULL of a shape without null means that the record lacks the field.
    """

    name: str
    full_name: str
    shape: Shape
    tags: frozenset[str] = frozenset()
    may_be_absent: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A struct."""

    fields: tuple[Field, ...]
    nullable: bool = False
    by_name: dict[str, Field] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {field.name: field for field in self.fields})


@dataclass(frozen=True, slots=True)
class Items:
    """An array."""

    item: Shape
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Entries:
    """A map with texts as keys."""

    value: Shape
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A union of several types: a struct with a member for each, of which one is set.

    Attributes:
        branches: The names of the members, and the shapes of the branches; empty if Spark has no struct for the union.
        nullable: Whether null is a branch.
    """

    branches: tuple[tuple[str, Shape], ...]
    nullable: bool = False


Shape = Scalar | Record | Items | Entries | Choice


def is_selected(field: Field, shape: Scalar, tags: frozenset[str]) -> bool:
    """Whether a rule with some tags is carried out on a leaf of a field; without tags, it is on each primitive one."""
    return shape.type_name in PRIMITIVE and (not tags or not tags.isdisjoint(field.tags))


def holds_selected(shape: Shape, holder: Field | None, tags: frozenset[str]) -> bool:
    """Whether a leaf that a rule with some tags selects is in a shape, however deep."""
    match shape:
        case Record():
            return any(holds_selected(field.shape, field, tags) for field in shape.fields)
        case Items():
            return holds_selected(shape.item, holder, tags)
        case Entries():
            return holds_selected(shape.value, holder, tags)
        case Choice():
            return any(holds_selected(branch, holder, tags) for _, branch in shape.branches)
    return holder is not None and is_selected(holder, shape, tags)
