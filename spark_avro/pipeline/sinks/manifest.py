"""The manifest of a batch in a folder: its source offsets and files. Writing it commits the batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import orjson

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import BatchIdentity, SinkRefused, SourceRange
from spark_avro.pipeline.sinks.marker import Marker, marker_of

#: The folder for everything that is not data; readers skip names that begin with an underscore.
PRIVATE = "_magicbyte"

_MANIFESTS = f"{PRIVATE}/batches"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a batch: its path in the folder, and its size in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """A committed batch.

    Attributes:
        batch: The batch's identity with its source offsets.
        rows: The number of rows in all files.
        files: The files where readers see them.
        replaces: Files of earlier batches that a compaction replaced by these files.
        attempt: The folder of the staged files, below that of the batch; each attempt has its own.
        late: How many of the rows are in the folder of late rows.
        refused: How many rows of the batch the sink refused; they are dead letters.
    """

    batch: BatchIdentity
    rows: int
    files: tuple[DataFile, ...]
    replaces: tuple[str, ...] = ()
    attempt: str = ""
    late: int = 0
    refused: int = 0

    def marker(self, before: Marker | None) -> Marker:
        """The marker of the batch, with the offsets of the marker before it."""
        return marker_of(self.batch, before, written=self.rows, refused=self.refused, late=self.late)


def write_manifest(folder: Folder, manifest: Manifest) -> None:
    """Commit a batch; the caller then moves its files from the staging folder to their places."""
    record = {"version": _VERSION, **asdict(manifest)}
    del record["batch"]["attempted"]
    text = orjson.dumps(record, option=orjson.OPT_INDENT_2).decode()
    folder.write(_path(str(manifest.batch)), text)


def read_manifest(folder: Folder, batch: str) -> Manifest | None:
    """The manifest of a batch by the text of its identity; None if the batch is not committed.

    Raises:
        SinkRefused: The file is not a manifest of this version.
    """
    text = folder.read(_path(batch))
    if text is None:
        return None
    try:
        record = orjson.loads(text)
        identity = record["batch"]
        ranges = tuple(SourceRange(**source) for source in identity.pop("ranges"))
        if record["version"] == _VERSION:
            files = tuple(DataFile(**file) for file in record["files"])
            batch_identity = BatchIdentity(**identity, ranges=ranges)
            replaces, attempt = tuple(record["replaces"]), record["attempt"]
            return Manifest(batch_identity, record["rows"], files, replaces, attempt, record["late"], record["refused"])
    except (orjson.JSONDecodeError, LookupError, TypeError, AttributeError):
        pass
    raise SinkRefused(f"{folder.path}/{_path(batch)} is no manifest of version {_VERSION}")


def read_manifests(folder: Folder) -> Iterator[Manifest]:
    """The manifests of all committed batches.

    Raises:
        SinkRefused: A file is not a manifest of this version.
    """
    for name in folder.names(_MANIFESTS):
        if name.endswith(".json") and not name.startswith("."):
            manifest = read_manifest(folder, name.removesuffix(".json"))
            assert manifest is not None
            yield manifest


def delete_manifest(folder: Folder, batch: str) -> None:
    """Forget a batch whose files were deleted."""
    folder.delete(_path(batch))


def _path(batch: str) -> str:
    return f"{_MANIFESTS}/{batch}.json"
