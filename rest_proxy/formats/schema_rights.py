"""A client's rights to the schemas of a produce request, and errors that reveal no schema it may not read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compat.schema import Reference
from magicbyte.kit.errors import ApiError
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import KAFKA_AUTHORIZATION, SERIALIZING_FAILED
from rest_proxy.formats.schema_reading import SchemaId, subjects_of
from serdes.client.clients import AsyncRegistryClient
from serdes.error import RegistryError, SchemaNotFound, SerdesError

#: Raises if a request may not use its schemas under a subject; the subject is None if it is not known yet.
Require = Callable[[str | None], None]


def requirement(operation: str, references: Iterable[Reference], rights: ProxyRights | None) -> Require:
    """Return the check of the rights to a schema: an operation on its subject, and READ on its references' subjects.

    Args:
        operation: WRITE for a text, READ for an id.
        references: The references of the request.
        rights: The rights of the client; None if access is not restricted.
    """
    if rights is None:
        return _nothing

    def require(subject: str | None) -> None:
        if subject is not None:
            rights.require((operation,), "SUBJECT", subject)
        for reference in references:
            rights.require(("READ",), "SUBJECT", reference.subject)

    return require


def _nothing(_subject: str | None) -> None:
    """Require nothing."""


def failed(text: str, error: SerdesError) -> ApiError:
    """Return the error for a failure of the registry's client; `text` names the operation that failed."""
    if isinstance(error, RegistryError) and error.code == KAFKA_AUTHORIZATION.code:
        return KAFKA_AUTHORIZATION(detail=error.message)
    return SERIALIZING_FAILED(detail=f"{text}\n{error}")


def id_failed(schema_id: SchemaId, error: SerdesError) -> ApiError:
    """Return the error for a schema that could not be fetched by its id or guid."""
    return failed(f"Error when fetching schema {fetched_by(schema_id)}", error)


def fetched_by(schema_id: SchemaId) -> str:
    """Return the words of error texts for the way a schema was requested."""
    return f"by id. schemaId = {schema_id}" if isinstance(schema_id, int) else f"by guid. schemaGuid = {schema_id}"


async def as_if_missing(
    error: ApiError, schema_id: SchemaId, rights: ProxyRights, registry: AsyncRegistryClient
) -> ApiError:
    """Return the error of a request with a schema's id or guid; that of a missing one if the client may not read it.

    The registry shows its schemas to the proxy, so its errors may reveal schemas that the client may not read. A client
    may read a schema if it may READ one of its subjects, deleted ones included.

    Args:
        error: The error of the request.
        schema_id: The id or guid.
        rights: The rights of the client.
        registry: The client of the registry.
    """
    try:
        subjects = await registry.drive(subjects_of(schema_id, registry.endpoints))
    except SchemaNotFound:
        subjects = []
    except SerdesError as failure:
        return id_failed(schema_id, failure)
    if any(rights.may("READ", "SUBJECT", subject) for subject in subjects):
        return error
    # Use our own text, so that both cases have the same one, whatever the registry's text is.
    return id_failed(schema_id, SchemaNotFound(404, 40403, f"Schema {schema_id} not found"))
