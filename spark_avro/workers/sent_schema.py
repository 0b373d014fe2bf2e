"""A schema as it is sent to Spark's workers, and whether its messages may be read."""

from __future__ import annotations

from dataclasses import dataclass

from compat.schema import Dependencies, SchemaText

#: What is said of a frame with the schema's guid (V1), which is told from others but not read.
GUID = "0x01, a schema guid's (V1), where only a schema id's 0x00 is read"


@dataclass(frozen=True)
class Known:
    """A schema, and the texts that it refers to.

    Attributes:
        schema: The schema's text.
        dependencies: The texts that it refers to.
        refusal: Why its messages must not be read, if rules of the registry say so.
    """

    schema: SchemaText
    dependencies: Dependencies = ()
    refusal: str | None = None
