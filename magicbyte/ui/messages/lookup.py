"""Looks up the schemas of a request's messages in the registry, each of them once."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from compat.schema import PROTOBUF, InvalidSchema, SchemaText
from magicbyte.ui.messages.failure import ENDING
from magicbyte.ui.messages.request import Common
from serdes.client.clients import RegistryClient
from serdes.client.models import SchemaInfo, SubjectVersion
from serdes.error import RegistryError, SchemaCompileError
from serdes.message.protobuf_schema import parse
from serdes.text import TextOptions, text_form

#: An id or, for a frame in a header, a guid.
SchemaId = int | UUID


@dataclass(frozen=True, slots=True)
class Holder:
    """A subject and version that hold a schema; both are None if the caller may not see any."""

    subject: str | None
    version: int | None


@dataclass(slots=True)
class Lookup:
    """Schemas by id or guid, and the subjects that hold them.

    Attributes:
        client: The registry's client, with the caller's credentials.
        request: The request, which names the topic and the context.
    """

    client: RegistryClient
    request: Common
    _infos: dict[SchemaId, SchemaInfo | Exception] = field(default_factory=dict)
    _holders: dict[SchemaId, Holder] = field(default_factory=dict)
    _names: dict[tuple[SchemaId, tuple[int, ...]], str | None] = field(default_factory=dict)

    @property
    def subject(self) -> str | None:
        """The subject in whose context ids are looked up; None for the default context."""
        request = self.request
        if request.topic:
            return f"{request.prefix}{request.topic}-{request.part}"
        return request.prefix or None

    def info(self, schema_id: SchemaId) -> SchemaInfo:
        """The schema of an id or guid; a failure is remembered too, so that 100 messages ask once.

        Raises:
            SerdesError: The registry does not know it, refuses, or does not answer.
        """
        if schema_id not in self._infos:
            try:
                self._infos[schema_id] = (
                    self.client.schema_by_id(schema_id, self.subject)
                    if isinstance(schema_id, int)
                    else self.client.schema_by_guid(str(schema_id))
                )
            except ENDING:
                raise
            except Exception as error:  # noqa: BLE001  raised again for each message
                self._infos[schema_id] = error
        info = self._infos[schema_id]
        if isinstance(info, Exception):
            raise info
        return info

    def holder(self, schema_id: SchemaId) -> Holder:
        """The topic's own subject if it holds the schema, else the first subject that does."""
        if schema_id not in self._holders:
            self._holders[schema_id] = self._holder(schema_id)
        return self._holders[schema_id]

    def _holder(self, schema_id: SchemaId) -> Holder:
        try:
            if isinstance(schema_id, UUID):
                ids = self.client.ids_of(str(schema_id))
                if not ids:
                    return Holder(None, None)
                schema_id = ids[0]
            context = self.request.prefix or None
            rows = self.client.versions_of(schema_id, context)
            rows = rows or self.client.versions_of(schema_id, context, deleted=True)
        except RegistryError:
            return Holder(None, None)
        row = next((row for row in rows if row.subject == self.subject), rows[0] if rows else None)
        return Holder(row.subject, row.version) if isinstance(row, SubjectVersion) else Holder(None, None)

    def name(self, schema_id: SchemaId, indexes: tuple[int, ...] = (0,)) -> str | None:
        """The name of the record, or of the Protobuf message at the indexes; None if there is none."""
        key = (schema_id, indexes)
        if key not in self._names:
            self._names[key] = self.name_of(self.info(schema_id).schema, indexes)
        return self._names[key]

    def name_of(self, schema: SchemaText, indexes: tuple[int, ...] = (0,)) -> str | None:
        """The name of a schema's record, or of the Protobuf message at the indexes; None if there is none."""
        try:
            if schema.schema_type == PROTOBUF:
                return parse(schema).message_name(indexes)
            return text_form(schema.schema_type).record_name(schema, TextOptions())
        except (SchemaCompileError, InvalidSchema, LookupError, ValueError):
            return None
