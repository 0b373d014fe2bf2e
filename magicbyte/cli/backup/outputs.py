"""The output of `magicbyte backup`: progress, and each backup that was made."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from magicbyte.cli.source_options import progress
from magicbyte.kit.failure import say
from magicbyte.kit.inert import inert_lines
from magicbyte.kit.plural import plural

if TYPE_CHECKING:
    from magicbyte.operations.backup.writing import Written


def tell(lines: int) -> None:
    """Write the number of lines so far to a terminal."""
    if sys.stderr.isatty():
        progress(f"{lines:,} lines written")


def show(written: Written, output: str) -> None:
    """Print a backup that was made, and its notes on stderr.

    Args:
        written: The backup.
        output: `text` or `json`.
    """
    for note in written.notes:
        say(f"note: {note}")
    if output == "json":
        value = {
            "file": str(written.path),
            "format": written.form,
            "bytes": written.size,
            "counts": dict(written.counts),
            "offset": written.offset,
            "notes": list(written.notes),
        }
        sys.stdout.write(json.dumps(value) + "\n")
    else:
        counts = ", ".join(plural(count, name.removesuffix("s")) for name, count in written.counts.items())
        sys.stdout.write(inert_lines(f"{written.path}: {counts}; {plural(written.size, 'byte')}") + "\n")
    sys.stdout.flush()
