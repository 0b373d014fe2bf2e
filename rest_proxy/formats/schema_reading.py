"""The schemas of records that a client may read."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple
from uuid import UUID

from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import KAFKA_AUTHORIZATION
from rest_proxy.formats.plain import DataError
from serdes.client.clients import AsyncRegistryClient
from serdes.client.endpoints.cached import Endpoints
from serdes.client.flow import Flow
from serdes.client.models import SchemaInfo
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
    """The subjects that have a schema, and those that it refers to, directly or not."""

    names: tuple[str, ...]
    referenced: tuple[str, ...]
    asked_at: float

    def may_be_read(self, rights: ProxyRights) -> bool:
        """Whether a client may READ one of the subjects that have it, and all that it refers to."""
        is_allowed = rights.may_some("READ", "SUBJECT", self.names)
        return is_allowed and all(rights.may("READ", "SUBJECT", name) for name in self.referenced)


class SchemaReading:
    """Decides whether a client may read a schema: if it may READ a subject that has it, as in the registry.

    It must also be allowed to READ the subjects that the schema refers to: decoded data have their names of fields. The
    registry only knows the proxy, so the proxy decides by the subjects of each schema, deleted ones included.
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
            if known.may_be_read(rights):
                return
            if now - known.asked_at < _DENIED_SECONDS:
                raise HiddenSchema(schema_id)
        subjects = _Subjects(*await _ask(schema_id, registry), now)
        self._keep(schema_id, subjects)
        if not subjects.may_be_read(rights):
            raise HiddenSchema(schema_id)

    def _keep(self, schema_id: SchemaId, subjects: _Subjects) -> None:
        if self._count > _MOST_SUBJECTS:
            self._subjects.clear()
            self._count = 0
        before = self._subjects.get(schema_id)
        # A schema without subjects takes memory too.
        self._count += _size(subjects) - (0 if before is None else _size(before))
        self._subjects[schema_id] = subjects


def _size(subjects: _Subjects) -> int:
    return 1 + len(subjects.names) + len(subjects.referenced)


async def _ask(schema_id: SchemaId, registry: AsyncRegistryClient) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        return await registry.drive(_subjects(schema_id, registry.endpoints))
    except SchemaNotFound:
        return (), ()
    except SerdesError as error:
        raise DataError("", f"schema {schema_id}: {error}") from None


def subjects_of(schema_id: SchemaId, endpoints: Endpoints) -> Flow[list[str]]:
    """The subjects that have a schema, deleted ones included."""
    if isinstance(schema_id, int):
        return endpoints.subjects_of(schema_id, deleted=True)
    return endpoints.subjects_of_guid(str(schema_id), deleted=True)


def _subjects(schema_id: SchemaId, endpoints: Endpoints) -> Flow[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The subjects that have a schema, deleted ones included, and those that it refers to, directly or not."""
    names = yield from subjects_of(schema_id, endpoints)
    info: SchemaInfo
    if isinstance(schema_id, int):
        info = yield from endpoints.schema_by_id(schema_id)
    else:
        info = yield from endpoints.schema_by_guid(str(schema_id))
    referenced: dict[tuple[str, int], None] = {}
    pending = [*info.schema.references]
    while pending:
        reference = pending.pop()
        key = reference.subject, reference.version
        if key not in referenced:
            referenced[key] = None
            # A stored schema may refer to a version that was deleted since.
            version = yield from endpoints.version(*key, deleted=True)
            pending += version.schema.references
    return tuple(names), tuple(dict.fromkeys(subject for subject, _ in referenced))
