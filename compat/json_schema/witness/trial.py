"""Searches documents that one schema accepts and another refuses, by running candidates through jsonschema-rs."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from compat.budget import Budget
from compat.difference import Witness
from compat.json import json_text
from compat.json_schema.judges.judging import Route
from compat.json_schema.schema import JsonSchema
from compat.json_schema.validate.validators import bounded_work, first_error, validator
from compat.json_schema.witness.candidates import LIMITS, Maker
from compat.json_schema.witness.contradiction import accepts_nothing
from compat.json_schema.witness.hints import hints_at
from compat.json_schema.witness.shrinking import shrink
from compat.schema import Pointer

#: The most work that validating a candidate of `_SIZE` bytes may take (see `work.py`): about 1 ms.
_MOST_WORK = 100_000
_SIZE = 200
#: How many candidates are tried for each place on the path to the difference.
_MOST_PER_PLACE = 1_500
#: The steps for a hint and for a candidate; a candidate costs more if validating it may take more work.
_STEPS_A_HINT = 4
_STEPS_A_TRY = 20
_WORK_A_STEP = 200
#: How many characters of the schemas cost one step when the validators are made, most of which are cached.
_CHARACTERS_A_STEP = 10
#: A longer reason of the validator is not repeated.
_LONGEST_REASON = 120


class Refusal(NamedTuple):
    """A document that shows a break, and the path to the keyword of the reader's schema that refuses it."""

    witness: Witness
    way: tuple[str, ...]


class Trial:
    """The validators of two schemas."""

    def __init__(self, reader: JsonSchema, writer: JsonSchema, budget: Budget) -> None:
        """Make the validators.

        Raises:
            ValueError: The library does not support one of the schemas, or validating might take too long.
        """
        bounds = [_bound(schema) for schema in (writer, reader)]
        if max(bounds) > _MOST_WORK:
            raise ValueError("to validate a document may take too long")
        self._accepts, self._reads = validator(writer), validator(reader)
        self._reader, self._writer, self._budget = reader, writer, budget
        self._left_out = False
        self._tried = self._accepted = 0
        self._steps = _STEPS_A_TRY + int(sum(bounds)) // _WORK_A_STEP
        budget.spend((len(reader.source) + len(writer.source)) // _CHARACTERS_A_STEP)

    def breaks(self, document: Any) -> bool:
        """Whether the writer's schema accepts a document and the reader's refuses it.

        Raises:
            TooMuchWork: The budget is spent.
        """
        self._budget.spend(self._steps)
        self._tried += 1
        if not self._accepts.is_valid(document):
            return False
        self._accepted += 1
        return not self._reads.is_valid(document)

    @property
    def incomplete(self) -> str:
        """Return the reason why searches without a result prove little; empty if they prove as much as a search can."""
        if self._left_out:
            return f"documents beyond these limits were left out: {LIMITS}"
        if not self._tried or self._accepted or accepts_nothing(self._writer.model):
            return ""
        return "no document was made that the writer's schema accepts"

    def search(self, route: Route, hints: tuple[Pointer | None, Pointer | None], most: int) -> Refusal | None:
        """A document that breaks, shrunk as far as possible; None if the search finds none.

        Args:
            route: The route to the value at which the break is expected.
            hints: Places in the reader's and the writer's schema; bounds and constants there are tried.
            most: How many candidates are tried, at most.

        Raises:
            TooMuchWork: The budget is spent.
        """
        values = hints_at(hints[0], self._reader.raw) | hints_at(hints[1], self._writer.raw)
        self._budget.spend(_STEPS_A_HINT * len(values))
        maker = Maker(values, self._budget, self._writer.raw)
        places = [route[:length] for length in range(len(route), -1, -1)]
        candidates = chain.from_iterable(
            islice(maker.reaching(self._writer.model, place), _MOST_PER_PLACE) for place in places
        )
        for candidate in islice(candidates, most):
            if self.breaks(candidate):
                return self._refusal(shrink(candidate, self.breaks))
        self._left_out |= maker.left_out
        return None

    def _refusal(self, document: Any) -> Refusal:
        error = first_error(self._reads, document)
        at = "".join(f"/{step}" for step in error.instance_path)
        why = f": {error.message}" if len(error.message) <= _LONGEST_REASON else ""
        effect = f"The reader refuses {f'the value at `{at}`' if at else 'it'}{why}."
        return Refusal(Witness(effect, json_text.dumps(document)), error.schema_path)


@lru_cache(maxsize=4)
def _bound(schema: JsonSchema) -> float:
    """The most work of a validator; cached because successive explanations ask for the same schemas."""
    return bounded_work(schema.raw, schema.dependencies).bound(_SIZE)
