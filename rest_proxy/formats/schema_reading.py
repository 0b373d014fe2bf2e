"""Which schemas of records a client may read."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple
from uuid import UUID

from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import KAFKA_AUTHORIZATION
from rest_proxy.formats.plain import DataError
from serdes.client.clients import AsyncRegistryClient
from serdes.error import SchemaNotFound, SerdesError

#: The id or guid of a message's schema.
SchemaId = int | UUID
#: How long to trust the subjects of a schema, in seconds: if they allow a client to read it, and if they do not.
_ALLOWED_SECONDS, _DENIED_SECONDS = 30.0, 1.0
#: The most subjects to remember, of all schemas together; all are dropped when there are more.
_MOST_SUBJECTS = 100_000


class HiddenSchema(DataError):
    """The schema of a key or value may not be read, or does not exist; a client cannot tell which.

    The key or value is returned as it is stored.
    """

    def __init__(self, schema_id: SchemaId) -> None:
        detail = f"schema {schema_id} does not exist, or you may not READ any subject that has it"
        super().__init__("", detail, KAFKA_AUTHORIZATION)


class _Subjects(NamedTuple):
    names: tuple[str, ...]
    asked_at: float


class SchemaReading:
    """Decides whether a client may read a schema: if it may READ a subject that has it, as in the registry.

    The registry only knows the proxy, so the proxy decides by the subjects of each schema, deleted ones included.
    """

    def __init__(self) -> None:
        self._subjects: dict[SchemaId, _Subjects] = {}
        self._count = 0

    async def require(self, schema_id: SchemaId, rights: ProxyRights, registry: AsyncRegistryClient) -> None:
        """Require the right to read a schema; takes microseconds if its subjects are known.

        Args:
            schema_id: The id or guid.
            rights: The client's rights.
            registry: The proxy's client of the registry.

        Raises:
            HiddenSchema: The client has no such right, or there is no such schema.
            DataError: The registry does not return the schema's subjects.
        """
        now = monotonic()
        known = self._subjects.get(schema_id)
        if known is not None and now - known.asked_at < _ALLOWED_SECONDS:
            if rights.may_some("READ", "SUBJECT", known.names):
                return
            if now - known.asked_at < _DENIED_SECONDS:
                raise HiddenSchema(schema_id)
        names = await _ask(schema_id, registry)
        self._keep(schema_id, _Subjects(names, now))
        if not rights.may_some("READ", "SUBJECT", names):
            raise HiddenSchema(schema_id)

    def _keep(self, schema_id: SchemaId, subjects: _Subjects) -> None:
        if self._count > _MOST_SUBJECTS:
            self._subjects.clear()
            self._count = 0
        before = self._subjects.get(schema_id)
        # A schema without subjects takes memory too.
        self._count += 1 + len(subjects.names) - (0 if before is None else 1 + len(before.names))
        self._subjects[schema_id] = subjects


async def _ask(schema_id: SchemaId, registry: AsyncRegistryClient) -> tuple[str, ...]:
    endpoints = registry.endpoints
    question = (
        endpoints.subjects_of(schema_id, deleted=True)
        if isinstance(schema_id, int)
        else endpoints.subjects_of_guid(str(schema_id), deleted=True)
    )
    try:
        return tuple(await registry.drive(question))
    except SchemaNotFound:
        return ()
    except SerdesError as error:
        raise DataError("", f"schema {schema_id}: {error}") from None
