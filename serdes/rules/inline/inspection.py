"""The validation of a message by the rules of its schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat.contracts.walk.leaf import LeafFailed
from compat.schema import AVRO, JSON, PROTOBUF, InvalidSchema
from serdes.error import SchemaCompileError, SerializationError
from serdes.rules.context import Ruled
from serdes.rules.inline.check import Check
from serdes.rules.inline.rule import Enough, Findings, ValidationRulesFailed

#: Takes a message; raises ValidationRulesFailed if it breaks a rule.
Inspect = Callable[[Any], None]


def inspection(ruled: Ruled, *, fail_fast: bool) -> Inspect | None:
    """The validation of a schema's messages; None if the schema has no validation rules.

    Args:
        ruled: The schema.
        fail_fast: Whether the first violation ends the validation.

    Raises:
        SerializationError: A rule cannot be evaluated for any message.
        SchemaCompileError: The schema cannot be parsed.
    """
    try:
        check, root = _check(ruled)
    except InvalidSchema as error:
        raise SchemaCompileError(error.schema_type, error.detail) from error
    if check is None:
        return None
    name = ruled.name

    def inspect(message: Any) -> None:
        if message is None:
            return
        findings = Findings(fail_fast)
        try:
            check(message, root, findings)
        except Enough:
            pass
        except LeafFailed as error:
            raise SerializationError(f"the validation rules of {name} cannot be evaluated: {error}") from error
        except RecursionError:
            raise SerializationError(f"the message is nested too deeply for the validation rules of {name}") from None
        if findings.violations:
            raise ValidationRulesFailed(tuple(findings.violations))

    return inspect


def _check(ruled: Ruled) -> tuple[Check | None, str]:
    """The check of the whole message, and the path of it."""
    schema, dependencies = ruled.schema, ruled.dependencies
    if schema.schema_type == AVRO:
        from serdes.rules.inline.avro import avro_check  # noqa: PLC0415  # each type loads its own

        return avro_check(schema, dependencies), ""
    if schema.schema_type == JSON:
        from serdes.rules.inline.json import json_check  # noqa: PLC0415  # as above

        return json_check(schema, dependencies), "$"
    assert schema.schema_type == PROTOBUF
    from serdes.rules.inline.protobuf import protobuf_check  # noqa: PLC0415  # as above

    return protobuf_check(schema, dependencies), ""
