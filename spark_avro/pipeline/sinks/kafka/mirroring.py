"""Copies the schemas of mirrored records to another registry, under the ids that the records have."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.client.clients import RegistryClient
from serdes.client.models import SchemaInfo
from serdes.error import SchemaNotFound
from serdes.message import wire
from serdes.serialization import SerializationError
from spark_avro.pipeline.ports import SinkRefused
from spark_avro.registry import id_of_guid

_IMPORT = "IMPORT"

#: Ids are Java ints; a greater number is not an id but the beginning of other data.
_LARGEST_ID = 2**31 - 1


def frames_of(records: pa.Table) -> set[bytes]:
    """The first bytes of keys and values, and the headers, that may be frames of records."""
    frames: set[bytes] = set()
    pairs = pc.list_flatten(records["headers"])
    for is_key, column in ((False, "value"), (True, "key")):
        messages = records[column].cast(pa.binary())
        named = pairs.filter(pc.equal(pc.struct_field(pairs, "key"), wire.header_name(is_key=is_key)))
        for heads in (pc.binary_slice(messages, 0, wire.V0_SIZE), pc.struct_field(named, "value")):
            frames.update(pc.unique(heads.drop_null()).to_pylist())
        by_guid = messages.filter(pc.starts_with(messages, bytes([wire.MAGIC_V1])))
        frames.update(pc.unique(pc.binary_slice(by_guid, 0, wire.V1_SIZE)).to_pylist())
    return frames


def frame_columns(names: Collection[str]) -> Column:
    """The frames of a record, as an array; see `frames_of`.

    Args:
        names: The columns of the records; they may lack `headers`.
    """
    heads = F.array(*map(_head, ("key", "value")))
    if "headers" not in names:
        return heads
    named = (wire.header_name(is_key=is_key) for is_key in (False, True))
    by_header = F.filter("headers", lambda pair: pair["key"].isin(*named))["value"]
    return F.concat(heads, F.coalesce(by_header, F.array().cast("array<binary>")))


def _head(name: str) -> Column:
    """The bytes of a key or value that may be a frame."""
    size = F.when(F.substring(name, 1, 1) == F.lit(bytes([wire.MAGIC_V1])), wire.V1_SIZE).otherwise(wire.V0_SIZE)
    return F.substring(name, F.lit(1), size)


class SchemaMirror:
    """Two registries, and the ids that the second one has already."""

    def __init__(self, source: RegistryClient, target: RegistryClient) -> None:
        self._source, self._target = source, target
        self._copied: set[int] = set()
        self._seen: set[str] = set()

    def copy_for(self, frames: Iterable[bytes | None]) -> None:
        """Copy the schemas that frames name; see `copy`.

        The target gives a schema the same guid, which is of its content.
        """
        ids, guids = set(), set()
        for frame in frames:
            with suppress(SerializationError):
                found = wire.read_prefix(frame or b"")
                if found.guid is not None:
                    guids.add(str(found.guid))
                elif found.schema_id is not None and found.schema_id <= _LARGEST_ID:
                    ids.add(found.schema_id)
        for guid in sorted(guids - self._seen):
            schema_id = id_of_guid(self._source, guid, None)
            if schema_id is not None:
                self._seen.add(guid)
                ids.add(schema_id)
        self.copy(ids)

    def copy(self, ids: set[int]) -> None:
        """Register schemas and the schemas that they refer to, under their subjects, versions and ids.

        Skips an id that the source registry does not have: the bytes before the payload are not a schema id.

        Raises:
            SinkRefused: The target registry has another schema under an id.
            RegistryError: A registry refuses.
        """
        for schema_id in sorted(ids - self._copied):
            try:
                info = self._source.schema_by_id(schema_id)
            except SchemaNotFound:
                self._copied.add(schema_id)
                continue
            self._copy(schema_id, info)

    def _copy(self, schema_id: int, info: SchemaInfo) -> None:
        self._copied.add(schema_id)
        for reference in info.schema.references:
            referenced = self._source.version(reference.subject, reference.version, deleted=True)
            self.copy({referenced.id})
        try:
            present = self._target.schema_by_id(schema_id)
        except SchemaNotFound:
            pass
        else:
            if present.schema != info.schema:
                raise SinkRefused(
                    f"sink.kafka.mirror.registry: {self._target.urls[0]} has another schema under id {schema_id};"
                    " mirror into a registry, or a context, whose ids are free"
                )
            return
        for held in self._source.versions_of(schema_id):
            self._target.put_mode(_IMPORT, held.subject, force=True)
            try:
                self._target.register(held.subject, info.schema, schema_id=schema_id, version=held.version)
            finally:
                self._target.delete_mode(held.subject)
