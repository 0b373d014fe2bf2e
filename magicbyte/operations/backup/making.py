"""One backup, from the source's name to the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.anonymize.reading import anonymous_reading
from magicbyte.operations.backup.selection import selected
from magicbyte.operations.backup.writing import Progress, Written, write_logical, write_raw
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.sources.port import RawSource, Reading, Source
from magicbyte.operations.sources.wholeness import require_whole, withheld_in

LOGICAL, RAW = "logical", "raw"
_WITHHELD = "what was hidden from the user who read the registry is missing"


@dataclass(frozen=True, slots=True)
class BackupRequest:
    """The source, the form and the scope of a backup to make.

    Attributes:
        source: The name of the source, as `open_source` takes it.
        properties: How to connect.
        form: `logical` or `raw`.
        context: The only context of a logical backup; None for all.
        deleted: Include soft-deleted versions in a logical backup.
        partial: Make a backup even if the source hides a part from this user.
        token_key: The key of the tokens that names and texts of a logical backup become; None to keep them.
    """

    source: str
    properties: Properties
    form: str = LOGICAL
    context: str | None = None
    deleted: bool = True
    partial: bool = False
    token_key: bytes | None = field(default=None, repr=False)


def make_backup(wanted: BackupRequest, path: Path, *, tell: Progress) -> Written:
    """Read a source and write its backup; a file that is there is replaced only by a complete one.

    Args:
        wanted: What to back up.
        path: The file.
        tell: Called with the number of lines so far.

    Raises:
        Failure: The source has no log to back up, or the file cannot be written.
        Unreachable: The source does not answer, refuses the client, or does not show everything.
        Unreadable: The source is a file that is cut or was changed.
    """
    with open_source(wanted.source, wanted.properties) as source:
        return _MAKERS[wanted.form](source, wanted, path, tell)


def _logical(source: Source, wanted: BackupRequest, path: Path, tell: Progress) -> Written:
    reading = source.read()
    require_whole(source.name, reading.withheld, "nothing was written", partial=wanted.partial)
    reading = selected(_with_notes(reading), wanted.context, deleted=wanted.deleted)
    withheld = reading.withheld
    if wanted.token_key is not None:
        reading = anonymous_reading(reading, wanted.token_key)
        # The sentences of a source may name subjects.
        withheld = (_WITHHELD,) if withheld else ()
    written = write_logical(reading, path, progress=tell, more=withheld_in(withheld))
    return replace(written, notes=(*written.notes, *withheld))


def _with_notes(reading: Reading) -> Reading:
    unread = [
        f"{plural(count, 'record')} of the log cannot be read ({reason}), and only a raw backup keeps them"
        for reason, count in reading.state.passed_over.items()
    ]
    return replace(reading, notes=(*reading.notes, *unread))


def _raw(source: Source, _wanted: BackupRequest, path: Path, tell: Progress) -> Written:
    if not isinstance(source, RawSource):
        raise Failure(
            f"{source.name} does not have the records of a log, which a raw backup consists of: name kafka:, sqlite:, "
            "postgresql: or a raw file, or make a logical backup"
        )
    return write_raw(source, path, progress=tell)


_MAKERS: dict[str, Callable[[Source, BackupRequest, Path, Progress], Written]] = {LOGICAL: _logical, RAW: _raw}
