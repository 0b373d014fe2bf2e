"""`--where`: a condition in SQL on a letter's columns. SQLite evaluates it on a row in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from serdes.console.outcome import BAD_USAGE, Ended
from serdes.letters.fingerprint import fingerprint
from serdes.letters.letter import Letter

#: The columns of a condition; all but the first five are NULL if the letter's headers lack them.
COLUMNS = (
    "letter_partition",
    "letter_offset",
    "letter_time",
    "fingerprint",
    "replays",
    "topic",
    "partition",
    "offset",
    "timestamp",
    "pipeline",
    "stage",
    "exception",
    "reason",
    "schema_id",
    "schema_guid",
    "subject",
    "attempt",
    "batch",
    "quality",
)
#: What SQLite may do for a condition.
_READS = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))
#: Functions that run programs of others; the authorizer's second argument is a function's name, or a column's.
_FORBIDDEN_FUNCTIONS = frozenset(("load_extension", "fts3_tokenizer"))
_FROM_FAILURE = {"pipeline": "connector", "reason": "message"}


def condition(text: str | None) -> Callable[[Letter], bool]:
    """The function that tells whether a letter matches; without a condition, every letter does.

    Raises:
        Ended: the text is not a condition, or it has a column that letters do not have.
    """
    if text is None:
        return lambda _: True
    database = sqlite3.connect(":memory:")
    # A condition must neither attach databases nor write nor load programs.
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.execute("PRAGMA query_only = ON")
    database.set_authorizer(_authorize)
    row = ", ".join(f'? AS "{name}"' for name in COLUMNS)
    query = f"SELECT ({text}) FROM (SELECT {row})"  # noqa: S608 - it is the caller's own condition

    def fits(letter: Letter) -> bool:
        try:
            return bool(database.execute(query, row_of(letter)).fetchone()[0])
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise Ended(BAD_USAGE, f"--where {text}: {error}; the columns are {', '.join(COLUMNS)}") from error

    fits(Letter(("", 0, 0), None, None, None, ()))
    return fits


def _authorize(action: int, _first: str | None, second: str | None, *_rest: str | None) -> int:
    is_allowed = action in _READS and second not in _FORBIDDEN_FUNCTIONS
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def row_of(letter: Letter) -> tuple[str | int | None, ...]:
    """The values of a letter's COLUMNS."""
    failure = letter.failure
    values = {
        "letter_partition": letter.place[1],
        "letter_offset": letter.place[2],
        "letter_time": letter.time,
        "fingerprint": fingerprint(failure),
        "replays": letter.replays,
        "schema_id": letter.schema_id,
        "schema_guid": letter.schema_guid,
    }
    return tuple(
        values[name] if name in values else getattr(failure, _FROM_FAILURE.get(name, name), None) for name in COLUMNS
    )
