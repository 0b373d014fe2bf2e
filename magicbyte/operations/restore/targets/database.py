"""The log of a registry on SQLite or PostgreSQL as a target; it has to be empty."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.kit.secret import hide_user_info
from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.restore.plan import HEADERS, Loss, Plan, Written
from magicbyte.operations.restore.targets.log_records import Foreign, count_written, records_to_write, unlike
from magicbyte.operations.restore.targets.port import Progress
from magicbyte.operations.sources.log_source import DatabaseSource
from magicbyte.operations.sources.port import RawRecord
from magicbyte.operations.state import State
from registry.log.port import BEGINNING, LogError, OutcomeUnknown, Record, WriteConflict
from registry.log.sql import SqlLog, check_url, has_log

#: How many records one transaction writes.
_RECORDS_IN_TRANSACTION = 2000


class Database(Closing):
    """A database whose log is empty, or holds the beginning of the same restore.

    Args:
        url: `sqlite:///FILE` or `postgresql://..`.

    Raises:
        Unreachable: The database does not answer.
    """

    is_log = True
    withheld: tuple[str, ...] = ()

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = hide_user_info(url)
        try:
            check_url(url)
        except LogError as error:
            raise Failure(f"{self.name}: {error}") from None

    def state(self) -> State:
        """Nothing: what a log holds already is of the same restore, or the restore is refused."""
        return State()

    def unfinished(self, _state: State) -> frozenset[str]:
        """None: each step of a restore is whole; see `Target.unfinished`."""
        return frozenset()

    def losses(self, plan: Plan) -> list[Loss]:
        """The headers of records, which a table has no place for."""
        if plan.records is None:
            return []
        count = sum(1 for record in plan.records() if record.headers)
        return [Loss(HEADERS, f"a database has no headers: {plural(count, 'record')} would lose them")] if count else []

    def storable(self, state: State) -> State:
        """The state; see `Target.storable`."""
        return state

    def check(self, plan: Plan) -> list[str]:
        """Whether the log is empty or holds the beginning of this restore; see `Target.check`."""
        try:
            if has_log(self._url):
                with DatabaseSource(self._url) as source:
                    count_written(source.records(), _bare(plan), compacted=False)
        except LogError as error:
            raise Unreachable(f"{self.name}: {error}") from None
        except Foreign as error:
            return [_not_empty(self.name, error)]
        return []

    def write(self, plan: Plan, progress: Progress) -> Written:
        """Insert the records in transactions; see `Target.write`."""
        written = there = 0
        try:
            log = SqlLog(self._url)
            try:
                wanted = _bare(plan)
                with DatabaseSource(self._url) as source:
                    there = count_written(source.records(), wanted, compacted=False)
                after = BEGINNING + there
                while batch := [_record(one) for one in islice(wanted, _RECORDS_IN_TRANSACTION)]:
                    after = log.append(batch, after)
                    written += len(batch)
                    progress(f"{plural(there + written, 'record')} in {self.name}")
            finally:
                log.close()
        except Foreign as error:
            raise Failure(_not_empty(self.name, error)) from None
        except WriteConflict as error:
            raise Failure(
                f"something else writes to {self.name}: {error}; written: {plural(written, 'record')}. Stop the "
                "registry, empty the database, and run the restore again"
            ) from None
        except (LogError, OutcomeUnknown) as error:
            raise Unreachable(
                f"{self.name}: {error}; written: {plural(written, 'record')}. Run the restore again"
            ) from None
        return Written(written, there, "records")

    def read_back(self) -> State:
        """The state that a registry would build from the log; see `Target.read_back`."""
        with DatabaseSource(self._url) as source:
            return source.read().state

    def unlike(self, plan: Plan) -> tuple[str, ...]:
        """Find differences between the rows and the plan; see `Target.unlike`."""
        with DatabaseSource(self._url) as source:
            return unlike(source.records(), _bare(plan), compacted=False)


def _bare(plan: Plan) -> Iterator[RawRecord]:
    """The records without headers."""
    for record in records_to_write(plan):
        yield RawRecord(record.offset, record.timestamp, record.key, record.value) if record.headers else record


def _record(record: RawRecord) -> Record:
    # The column takes a record without a key, which a registry passes over.
    return Record(record.key, record.value, record.timestamp)  # type: ignore[arg-type]


def _not_empty(name: str, error: Foreign) -> str:
    return f"{name} is not empty: {error}. Restore into an empty database, or into the running registry by its URL"
