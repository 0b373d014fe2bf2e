"""The validator of a JSON Schema: it decides in this process if that is sure to be quick, otherwise in a worker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compat.json_schema.validate.work import BACKTRACKS, UNBOUNDED, Work
from compat.schema import JSON, Dependencies
from serdes.error import SchemaCompileError
from serdes.json_bytes import dumps, loads
from serdes.validation.described import DescribedSchema
from serdes.validation.judging import judge
from serdes.validation.refusal import Refusal, ValueRefused


@dataclass(frozen=True, slots=True)
class _Limits:
    """The limits of this process: work on a value (see `work_of` in compat), and characters of a schema to compile."""

    work: float
    schema: int


#: About 0.2 s for a thread that delays no other work, and about 10 ms for an event loop.
_ALONE, _SHARED = _Limits(2e7, 2_000_000), _Limits(1e6, 200_000)


class JsonValidator:
    """Refuses values that a JSON Schema does not accept, in bounded time and memory.

    References resolve to dependencies, by their exact names or relative to an `$id`; never over the network.

    Args:
        text: The schema.
        dependencies: The schemas that it refers to.
        dialect: The draft to use if `$schema` is missing or unknown, as in `json.schema.spec.version`.
        blocks_other_work: Whether validation delays other work of this process, so that more is left to workers.

    Attributes:
        accepts: Tells whether a value of at most `longest` bytes of JSON is accepted; if False, `check` decides.
        longest: The largest size of values, in bytes of JSON, for which that is sure to be quick; -1 for none.

    Raises:
        SchemaCompileError: The schema is not JSON, violates its draft, or has a reference without a target. For schemas
            that only a worker may compile, `check` raises it.
    """

    def __init__(
        self,
        text: str,
        dependencies: Dependencies = (),
        dialect: str = "draft_7",
        *,
        blocks_other_work: bool = False,
    ) -> None:
        self._limits = _SHARED if blocks_other_work else _ALONE
        self._schema = DescribedSchema(text, dependencies, dialect)
        self._work = UNBOUNDED
        self.accepts: Callable[[Any], bool] = _never
        try:
            if self._schema.size <= self._limits.schema:
                self._work = self._schema.work
            self.longest = _longest(self._work, self._limits.work)
            if self.longest >= 0:
                backtracks = BACKTRACKS if self._work.backtracks else None
                self.accepts = self._schema.compile(backtracks=backtracks).is_valid
        except ValueError as error:
            raise SchemaCompileError(JSON, str(error)) from None

    def covers(self, size: int, count: int) -> bool:
        """Whether `accepts` is sure to be quick for this many values with this many bytes of JSON in total."""
        return self._work.bound(size) + (count - 1) * self._work.bound(0) <= self._limits.work

    def check(self, value: Any, text: bytes | None = None) -> None:
        """Return if the schema accepts a value.

        Args:
            value: The value, as decoded JSON.
            text: Its JSON text in UTF-8, if available.

        Raises:
            ValueRefused: The schema does not accept it, or the check takes more time or memory than a worker may use.
            SchemaCompileError: The schema cannot be compiled.
            ValidationUnavailable: No worker is available.
        """
        if text is None:
            text = dumps(value)
        if len(text) <= self.longest:
            if self.accepts(value):
                return
            refusal = self._explained(text)
            if refusal is not None:
                raise ValueRefused(refusal)
        try:
            refusal = judge(self._schema, text)
        except ValueError as error:
            raise SchemaCompileError(JSON, str(error)) from None
        if refusal is not None:
            raise ValueRefused(refusal)

    def _explained(self, text: bytes) -> Refusal | None:
        """The reason why a value is refused; None if a worker must decide."""
        # The worker tries a pattern that gave up again, with more time.
        if self._work.backtracks:
            return None
        # Convert to plain JSON values, whatever types the value contains.
        value = loads(text.decode())
        if self._limits is _SHARED:
            return self._schema.explain_shortly(value)
        return self._schema.explain(value, len(text))


def _longest(work: Work, most: float) -> int:
    """The largest size of values for which the work stays within a limit; -1 if there is none."""
    least = work.bound(0)
    slope = work.bound(1) - least
    if not least <= most:
        return -1
    return min(int((most - least) / slope), sys.maxsize) if slope else sys.maxsize


def _never(_value: Any) -> bool:
    return False
