"""A schema in the form sent to Spark's workers."""

from __future__ import annotations

from dataclasses import dataclass

from compat.schema import Dependencies, SchemaText
from serdes.rules.context import Ruled


@dataclass(frozen=True)
class SentSchema:
    """A schema, and the texts that it refers to.

    Attributes:
        ruled: The registry's schema with its rules.
        dependencies: The texts that it refers to.
    """

    ruled: Ruled
    dependencies: Dependencies = ()

    @property
    def schema(self) -> SchemaText:
        """The schema's text."""
        return self.ruled.schema
