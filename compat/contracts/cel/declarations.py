"""The variables that an expression may use, and their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compat.contracts.cel.data.shapes import Shape

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool


@dataclass(frozen=True, slots=True)
class CelType:
    """The type of a variable.

    Attributes:
        signature: The type as CEL writes it: `dyn`, `list<string>`, or the full name of a message.
        pool: The descriptors of the message; None if the type needs none.
        shape: The shape of the data, by which they are converted for an evaluation; None if no schema gives it.
    """

    signature: str
    pool: DescriptorPool | None = None
    shape: Shape | None = field(default=None, compare=False)

    @property
    def evaluated(self) -> CelType:
        """The type for evaluations: data of Avro and JSON are maps, and only a check takes them for messages."""
        return self if self.shape is None else CelType("dyn", shape=self.shape)


DYN = CelType("dyn")
STRING = CelType("string")
STRINGS = CelType("list<string>")
TIMESTAMP = CelType("timestamp")


def evaluated(declarations: Mapping[str, CelType]) -> Mapping[str, CelType]:
    """The variables of an evaluation, from those of a check."""
    return {name: declared.evaluated for name, declared in declarations.items()}


def message_variables(message: CelType = DYN) -> Mapping[str, CelType]:
    """The variables of a CEL rule.

    Args:
        message: The type of `message`; `dyn` for an evaluation of plain data.
    """
    return {"message": message, "now": TIMESTAMP}


def untyped() -> Mapping[str, CelType]:
    """The variables of a CEL rule, for the evaluation of data that no descriptors describe."""
    return message_variables()


def field_variables(value: CelType = DYN, message: CelType = DYN) -> Mapping[str, CelType]:
    """The variables of a CEL_FIELD rule.

    Args:
        value: The type of the field.
        message: The type of the record that has the field.
    """
    return {
        "value": value,
        "fullName": STRING,
        "name": STRING,
        "typeName": STRING,
        "tags": STRINGS,
        "message": message,
        "now": TIMESTAMP,
    }


def inline_variables(this: CelType = DYN) -> Mapping[str, CelType]:
    """The variables of a validation rule that stands in a schema.

    Args:
        this: The type of the record or field that has the rule.
    """
    return {"this": this, "now": TIMESTAMP}
