"""Counts requests to register a schema by their outcome."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from compat.formats import FORMATS
from compat.schema import InvalidSchema
from magicbyte.kit.errors import ApiError
from registry import errors, metrics
from registry.decide import Decision, Sent, Terms, decide_register
from registry.log.port import NotLeader
from registry.state.model import Version
from registry.state.view import View

NEW, EXISTING, INCOMPATIBLE, INVALID, FAILED = "new", "existing", "incompatible", "invalid", "failed"

#: The counters of known types: to look one up by its labels takes a lock.
_COUNTERS = {
    (schema_type, outcome): metrics.REGISTRATIONS.labels(schema_type, outcome)
    for schema_type in FORMATS
    for outcome in (NEW, EXISTING, INCOMPATIBLE, INVALID, FAILED)
}


class Registration:
    """One request, decided once or more often; the last decision counts."""

    def __init__(self, sent: Sent) -> None:
        self._sent = sent
        self.outcome = EXISTING

    def decide(self, view: View, now: int, *, terms: Terms) -> Decision[Version]:
        """Decide as `decide_register` does, and remember whether this adds a version."""
        decision = decide_register(view, now, sent=self._sent, terms=terms)
        self.outcome = NEW if decision.records else EXISTING
        return decision


@contextmanager
def counted_registration(sent: Sent) -> Iterator[Registration]:
    """Count a request by how the block ends; a request that goes to the leader counts there."""
    registration = Registration(sent)
    try:
        yield registration
    except NotLeader:
        raise
    except Exception as error:
        registration.outcome = _outcome_of(error)
        _count(sent, registration)
        raise
    _count(sent, registration)


def _outcome_of(error: Exception) -> str:
    if isinstance(error, InvalidSchema):
        return INVALID
    if isinstance(error, ApiError):
        if error.kind in (errors.INCOMPATIBLE_SCHEMA, errors.INCOMPATIBLE_SCHEMA_8):
            return INCOMPATIBLE
        if error.code == errors.INVALID_SCHEMA.code:
            return INVALID
    return FAILED


def _count(sent: Sent, registration: Registration) -> None:
    counter = _COUNTERS.get((sent.content.schema_type, registration.outcome))
    if counter is None:
        # A client may send any type, and must not make series.
        counter = metrics.REGISTRATIONS.labels("other", registration.outcome)
    counter.inc()
