"""A JSON Schema with its references, the input of a validator in this process or in a worker."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from compat.json import json_text
from compat.json.numbers import to_doubles
from compat.json_schema.model.dialects import (
    DRAFT_4,
    DRAFT_6,
    DRAFT_7,
    DRAFT_2019_09,
    DRAFT_2020_12,
    Dialect,
    dialect_of,
)
from compat.json_schema.validate.validators import bounded_work, compiled, in_its_draft, resources_of
from compat.json_schema.validate.work import UNBOUNDED, Work
from compat.schema import Dependencies, Dependency
from serdes.validation.refusal import Refusal

if TYPE_CHECKING:
    import jsonschema_rs

    from serdes.validation.explanation import Explainer

#: The longest schema, in characters, in which to look for the place that costs the most work.
_LONGEST_EXAMINED = 200_000
#: For larger values, in bytes, and costlier schemas, the first error is not looked for if the best is not found.
_LONGEST_SEARCHED = 500_000
_MOST_WEIGHT = 2_000

_DIALECTS = {
    "draft_4": DRAFT_4,
    "draft_6": DRAFT_6,
    "draft_7": DRAFT_7,
    "draft_2019_09": DRAFT_2019_09,
    "draft_2020_12": DRAFT_2020_12,
}


@dataclass(frozen=True)
class DescribedSchema:
    """A schema as text.

    Attributes:
        text: The schema.
        dependencies: The referenced schemas, by the names in the references.
        dialect_name: The draft to use if `$schema` is missing or unknown, as in `json.schema.spec.version`.
    """

    text: str
    dependencies: Dependencies = ()
    dialect_name: str = "draft_7"

    @cached_property
    def raw(self) -> Any:
        """The schema as JSON.

        Raises:
            ValueError: The text is not JSON, or neither an object nor true or false.
        """
        try:
            raw = json_text.loads(self.text, decimals=True)
        except json_text.InvalidJson as error:
            raise ValueError(f"the schema is not JSON: {error}") from None
        if not isinstance(raw, dict | bool):
            raise ValueError("the schema is neither an object nor true or false")  # noqa: TRY004  the text is at fault
        return raw

    @cached_property
    def dialect(self) -> Dialect:
        """The draft of the schema."""
        return dialect_of(self.raw, _DIALECTS[self.dialect_name])

    @cached_property
    def size(self) -> int:
        """The number of characters in all texts."""
        return len(self.text) + sum(len(dependency.text) for dependency in self.dependencies)

    @cached_property
    def work(self) -> Work:
        """The limit on the work of a validator."""
        return bounded_work(self.raw, self.dependencies, self.dialect)

    def compile(self, *, backtracks: int | None = None) -> jsonschema_rs.Validator:
        """Compile the schema to a validator.

        Args:
            backtracks: The number of steps after which a backtracking pattern gives up; None for the library's limit.

        Raises:
            ValueError: The schema violates its draft, or a reference has no target.
        """
        return compiled(self.raw, self.dependencies, dialect=self.dialect, backtracks=backtracks)

    def explain_shortly(self, value: Any) -> Refusal | None:
        """The reason why the schema refuses a value; None if it takes more than about a millisecond to find."""
        return self._explainer.explain(value, is_short=True)

    def explain(self, value: Any, size: int) -> Refusal:
        """The reason why the schema refuses a value; `size` is the length of its JSON in bytes."""
        refusal = self._explainer.explain(value)
        if refusal is None and size <= _LONGEST_SEARCHED and self.work.amount.weight <= _MOST_WEIGHT:
            refusal = self._first(value)
        return refusal or self.given_up("to find the reason takes too much work")

    def given_up(self, why: str) -> Refusal:
        """A refusal that names only the place in the schema that costs the most work."""
        tangle = UNBOUNDED.tangle if self.size > _LONGEST_EXAMINED else self.work.tangle
        pointer = "".join(f"/{step}" for step in tangle.pointer)
        return Refusal(
            tangle.route, tangle.keyword, f"refused by {tangle.keyword} (at #{pointer} of the schema); {why}"
        )

    def _first(self, value: Any) -> Refusal | None:
        """The first error that jsonschema-rs reports, which it finds quickly even deep inside a large value."""
        validator = compiled(self.raw, self.dependencies, dialect=self.dialect, mask="the value")
        error = next(validator.iter_errors(value), None)
        return None if error is None else Refusal(tuple(error.instance_path), error.kind.name, error.message)

    @cached_property
    def _explainer(self) -> Explainer:
        # Import here: the library is slow to load, and most programs never see a refused value.
        from serdes.validation.explanation import Explainer  # noqa: PLC0415

        # jsonschema would compare the doubles of a value with exact decimals: 0.1 is less than Decimal("0.1").
        resources = resources_of(self.raw, self.dependencies, self.dialect)
        doubles = {address: to_doubles(raw) for address, raw in resources.items()}
        return Explainer(to_doubles(in_its_draft(self.raw, self.dialect)), doubles, self.dialect)

    @cached_property
    def packed(self) -> bytes:
        """The schema in a form for another process."""
        named = [(dependency.name, dependency.text) for dependency in self.dependencies]
        return orjson.dumps([self.text, named, self.dialect_name])

    @cached_property
    def digest(self) -> bytes:
        """The schema's key in that process, 16 bytes."""
        return hashlib.sha256(self.packed).digest()[:16]


def unpacked(packed: bytes) -> DescribedSchema:
    """Unpack a schema from another process, the reverse of `packed`."""
    text, named, dialect_name = orjson.loads(packed)
    return DescribedSchema(text, tuple(Dependency(name, value) for name, value in named), dialect_name)
