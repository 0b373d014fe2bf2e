"""Tables for people: aligned columns, without empty ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[str]:
    """The lines of a table.

    Args:
        rows: The head and the rows; a column that is empty below the head is left out.
        right: The columns of numbers.
    """
    used = [column for column in range(len(rows[0])) if any(row[column] for row in rows[1:])]
    widths = {column: max(len(row[column]) for row in rows) for column in used}
    for row in rows:
        cells = [
            row[column].rjust(widths[column]) if column in right else row[column].ljust(widths[column])
            for column in used
        ]
        yield "  ".join(("", *cells)).rstrip()
