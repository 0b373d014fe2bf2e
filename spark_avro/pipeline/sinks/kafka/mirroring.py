"""Copies the schemas of mirrored records to another registry, under the ids that the records have."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from serdes.client.clients import RegistryClient
from serdes.client.models import SchemaInfo
from serdes.error import SchemaNotFound
from serdes.message import wire
from spark_avro.pipeline.ports import SinkRefused

_IMPORT = "IMPORT"

#: Ids are Java ints; a greater number is not an id but the beginning of other data.
_LARGEST_ID = 2**31 - 1


def framed_ids(column: pa.ChunkedArray) -> set[int]:
    """The schema ids in the first five bytes of payloads; payloads with another first byte have none."""
    heads = pc.unique(pc.binary_slice(column.cast(pa.binary()), 0, wire.V0_SIZE))
    ids = {
        int.from_bytes(head[1:], "big")
        for head in heads.to_pylist()
        if head is not None and len(head) == wire.V0_SIZE and head[0] == wire.MAGIC_V0
    }
    return {schema_id for schema_id in ids if schema_id <= _LARGEST_ID}


class SchemaMirror:
    """Two registries, and the ids that the second one has already."""

    def __init__(self, source: RegistryClient, target: RegistryClient) -> None:
        self._source, self._target = source, target
        self._copied: set[int] = set()

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
