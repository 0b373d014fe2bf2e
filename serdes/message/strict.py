"""The clients' own compatibility check: may data of the serializer's schema be written with the registry's?"""

from __future__ import annotations

from compat.budget import Budget
from compat.engine import Previous, Verdict, check
from compat.formats import parse
from compat.level import LEVELS
from compat.schema import Dependencies, InvalidSchema, SchemaText
from serdes.error import IncompatibleReader, SchemaCompileError

#: The work for the search for a datum that shows why.
_EXPLANATION_STEPS = 100_000

#: A schema and what it refers to.
Resolved = tuple[SchemaText, Dependencies]


def assert_reads(name: str, setting: str, *, reader: Resolved, writer: Resolved) -> None:
    """Passes where the reader's schema can read what the writer's schema writes.

    Raises:
        IncompatibleReader: it cannot; `name` stands for the reader's schema, `setting` switches the check off.
        SchemaCompileError: one of them cannot be parsed.
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
    """A datum that shows the first break for which one is found, and what the reader makes of it."""
    witnesses = (explained.witness for explained in verdict.explained(Budget(_EXPLANATION_STEPS)))
    shown = next((witness for witness in witnesses if witness is not None and witness.example is not None), None)
    return "" if shown is None else f"{shown.example}: {shown.effect}"
