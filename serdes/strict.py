"""The clients' own compatibility check: may data of the serializer's schema be written with the registry's?"""

from __future__ import annotations

from compat.engine import Previous, check
from compat.formats import parse
from compat.level import LEVELS
from compat.schema import Dependencies, InvalidSchema, SchemaText
from serdes.error import IncompatibleReader, SchemaCompileError

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
        raise IncompatibleReader(name, setting, tuple(finding.message for finding in verdict.findings))
