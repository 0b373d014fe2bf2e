"""Replaces batches of a folder: by a backfill of their offsets, or by fewer and larger files.

Both record each change before they make it, and finish what an earlier attempt began: a crash loses no row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import BatchIdentity, SinkRefused, SourceRange
from spark_avro.pipeline.sinks.manifest import (
    PRIVATE,
    DataFile,
    Manifest,
    delete_manifest,
    read_manifest,
    read_manifests,
)
from spark_avro.pipeline.upkeep.ranges import overlap, union

_REPLACING = f"{PRIVATE}/replacing"
_KEPT = f"{PRIVATE}/kept"
STAGING = f"{PRIVATE}/staging"


@dataclass(frozen=True, slots=True)
class Replacement:
    """The offsets and batches that a backfill replaces in a folder.

    Attributes:
        ranges: The offsets to process: the requested ones, and the others of the batches that have some of them.
        batches: The batches that have these offsets.
    """

    ranges: tuple[SourceRange, ...]
    batches: tuple[str, ...]


def plan_replacement(
    folder: Folder, ranges: Sequence[SourceRange], topic_ids: Mapping[str, str] | None = None
) -> Replacement:
    """The batches that have some offsets, with all their other offsets: a file cannot be replaced in part.

    Args:
        folder: The folder.
        ranges: The offsets.
        topic_ids: The ids of the topics now: batches of a deleted topic of the same name have other records.
    """
    manifests = list(read_manifests(folder))
    whole, chosen = union(ranges), dict[str, Manifest]()
    while True:
        more = {str(manifest.batch): manifest for manifest in manifests if _has_any(manifest, whole, topic_ids or {})}
        if more.keys() == chosen.keys():
            return Replacement(whole, tuple(sorted(chosen)))
        chosen = more
        whole = union([*whole, *(part for manifest in chosen.values() for part in manifest.batch.ranges)])


def _has_any(manifest: Manifest, ranges: Iterable[SourceRange], topic_ids: Mapping[str, str]) -> bool:
    """Whether a batch has records of some offsets.

    Raises:
        SinkRefused: it has such records, and others of a topic that was deleted, which cannot be read again.
    """
    read = manifest.batch.topic_ids
    deleted = {topic for topic, topic_id in topic_ids.items() if read.get(topic, topic_id) != topic_id}
    parts = [part for part in manifest.batch.ranges if part.topic not in deleted]
    if not any(overlap(part, other) for part in parts for other in ranges):
        return False
    if len(parts) < len(manifest.batch.ranges):
        raise SinkRefused(
            f"batch {manifest.batch} also has records of {', '.join(sorted(deleted))} from before that topic was"
            " deleted and made again: they cannot be read again, so the batch cannot be replaced"
        )
    return True


def begin_replacement(folder: Folder, batch: BatchIdentity, batches: Collection[str]) -> None:
    """Note which batches a new one will replace; the batch is written next."""
    folder.replace(f"{_REPLACING}/{batch}.json", orjson.dumps({"replaces": sorted(batches)}).decode())


def finish_replacement(folder: Folder, batch: str) -> None:
    """Delete the batches that a finished batch replaces; a batch without rows has no manifest."""
    text = folder.read(f"{_REPLACING}/{batch}.json")
    for replaced in orjson.loads(text)["replaces"] if text is not None else ():
        delete_batch(folder, replaced)
    folder.delete(f"{_REPLACING}/{batch}.json")


def recover_replacements(folder: Folder) -> None:
    """Finish the replacements of an earlier attempt whose batches are committed, and forget the others."""
    for name in folder.names(_REPLACING):
        if name.startswith(".") or not name.endswith(".json"):
            continue
        batch = name.removesuffix(".json")
        if read_manifest(folder, batch) is not None:
            finish_replacement(folder, batch)
        else:
            folder.delete(f"{_REPLACING}/{name}")


def delete_batch(folder: Folder, batch: str) -> None:
    """Delete a batch's files, and then its manifest."""
    manifest = read_manifest(folder, batch)
    if manifest is None:
        return
    for place in sorted({file.path.rpartition("/")[0] for file in manifest.files}):
        folder.delete(place)
    delete_manifest(folder, batch)


def live_files(manifests: Sequence[Manifest]) -> dict[str, tuple[DataFile, ...]]:
    """The files of each batch, without those that a compaction replaced."""
    replaced = {path for manifest in manifests for path in manifest.replaces}
    return {
        str(manifest.batch): tuple(file for file in manifest.files if file.path not in replaced)
        for manifest in manifests
    }


def keep_replaced(folder: Folder, batch: BatchIdentity, until: datetime) -> None:
    """Note until when the files that a compaction replaces stay; the manifest is written next."""
    folder.delete(f"{_KEPT}/{batch}.json")
    folder.write(f"{_KEPT}/{batch}.json", orjson.dumps({"until": until.isoformat()}).decode())


def finish_compactions(folder: Folder, now: datetime) -> int:
    """Replace files by those of committed compactions, and delete kept files whose time is over.

    Returns:
        The number of files that were kept until now.
    """
    staged = set(folder.names(STAGING))
    kept = {name.removesuffix(".json") for name in folder.names(_KEPT) if name[0] != "."}
    for manifest in read_manifests(folder):
        if manifest.replaces and str(manifest.batch) in staged:
            _finish_compaction(folder, manifest, keeps=str(manifest.batch) in kept)
    return sum(_delete_kept(folder, batch, now) for batch in sorted(kept))


def _finish_compaction(folder: Folder, manifest: Manifest, *, keeps: bool) -> None:
    """Finish a compaction; deletes the staging folder last, because it shows that work is left."""
    if not keeps:
        _delete_replaced(folder, manifest)
    for target in sorted({file.path.rpartition("/")[0] for file in manifest.files}):
        source = f"{STAGING}/{manifest.batch}/{target.rpartition('/')[0]}".rstrip("/")
        if folder.exists(source):
            folder.rename(source, target)
    folder.delete(f"{STAGING}/{manifest.batch}")


def _delete_kept(folder: Folder, batch: str, now: datetime) -> int:
    """Delete the files that a compaction has replaced, if their time is over; returns how many there were."""
    note = folder.read(f"{_KEPT}/{batch}.json")
    if note is None or datetime.fromisoformat(orjson.loads(note)["until"]) > now:
        return 0
    # Without a manifest, the compaction ended before it was committed, or a backfill has replaced it.
    manifest = read_manifest(folder, batch)
    if manifest is not None:
        _delete_replaced(folder, manifest)
    folder.delete(f"{_KEPT}/{batch}.json")
    return 0 if manifest is None else len(manifest.replaces)


def _delete_replaced(folder: Folder, manifest: Manifest) -> None:
    for place in sorted({path.rpartition("/")[0] for path in manifest.replaces}):
        folder.delete(place)
