"""The client's compatibility check: can the registry's schema read data of the serializer's own schema?"""

from __future__ import annotations

from compat.budget import Budget
from compat.engine import Previous, Verdict, check
from compat.formats import parse
from compat.level import LEVELS
from compat.schema import Dependencies, InvalidSchema, SchemaText
from serdes.error import IncompatibleReader, SchemaCompileError

#: The step budget of the search for a datum that shows why.
_EXPLANATION_STEPS = 100_000

#: A schema and the schemas that it refers to.
Resolved = tuple[SchemaText, Dependencies]


def assert_reads(name: str, setting: str, *, reader: Resolved, writer: Resolved) -> None:
    """Checks that the reader's schema can read data of the writer's schema.

    Raises:
        IncompatibleReader: it cannot; the error calls the reader's schema `name`, and `setting` switches the check off.
        SchemaCompileError: one of the schemas cannot be parsed.
    """
    try:
        new, old = (parse(*schema) for schema in (reader, writer))
    except InvalidSchema as error:
        raise SchemaCompileError(error.schema_type, error.detail) from error
    verdict = check(new, [Previous(None, old)], LEVELS["BACKWARD"])
    if not verdict.compatible:
        messages = tuple(finding.message for finding in verdict.findings)
        raise IncompatibleReader(name, setting, messages, _evidence(verdict))


def _evidence(verdict: Verdict) -> str:
    """A datum that the reader cannot read or reads wrongly, and the effect, for the first break with such a datum."""
    witnesses = (explained.witness for explained in verdict.explained(Budget(_EXPLANATION_STEPS)))
    shown = next((witness for witness in witnesses if witness is not None and witness.example is not None), None)
    return "" if shown is None else f"{shown.example}: {shown.effect}"
