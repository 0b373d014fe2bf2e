"""The variables of expressions, with the forms of a schema's data."""

from __future__ import annotations

from collections.abc import Mapping

from compat.contracts.cel.declarations import CelType, evaluated, field_variables, message_variables
from compat.contracts.cel.options import CelOptions
from compat.contracts.cel.schema_types.types import schema_types
from compat.protobuf.schema import ProtobufSchema
from compat.schema import InvalidSchema, ParsedSchema
from serdes.rules.context import RuleContext
from serdes.rules.error import RuleUnusable


class Variables:
    """The variables of a rule's expression.

    Data of Avro and JSON are maps. Messages of Protobuf are dynamic, because a schema has several: the engine finds
    their descriptors by name.

    Args:
        schema: The parsed schema.
        options: The options of the rule.
    """

    def __init__(self, schema: ParsedSchema, options: CelOptions) -> None:
        self._types = schema_types(schema, unsigned=options.unsigned)
        self._messages = None
        if isinstance(schema, ProtobufSchema):
            self._messages = CelType("dyn", schema.linked.pool)

    @property
    def of_message(self) -> Mapping[str, CelType]:
        """The variables of a CEL rule."""
        return evaluated(self._types.rule()) if self._messages is None else message_variables(self._messages)

    @property
    def of_fields(self) -> Mapping[str, CelType]:
        """The variables of a CEL_FIELD rule, without the forms of a field."""
        return field_variables() if self._messages is None else field_variables(message=self._messages)

    def at(self, full_name: str) -> Mapping[str, CelType]:
        """The variables of a CEL_FIELD rule at a field."""
        variables = self._types.field_rule(full_name)
        if self._messages is None:
            return evaluated(variables)
        return field_variables(CelType("dyn", shape=variables["value"].shape), self._messages)


def variables(context: RuleContext, options: CelOptions) -> Variables:
    """The variables of a rule.

    Raises:
        RuleUnusable: The schema's text cannot be parsed or linked.
    """
    try:
        return Variables(context.parsed(), options)
    except InvalidSchema as error:
        raise RuleUnusable(f"the schema cannot be read: {error}") from None
