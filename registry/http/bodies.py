"""Request bodies: the commands that are built from them."""

from __future__ import annotations

from collections.abc import Sequence

from compat.contracts.model import Metadata, RuleSet
from compat.schema import AVRO, Reference
from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.request import Request
from registry.access.rights import Rights
from registry.decide import Sent, Tagging
from registry.http.body_reader import BodyReader
from registry.http.models.schemas import RegisterSchemaRequest, SchemaTags, TagSchemaRequest
from registry.http.request import flag, rights_of
from registry.state.model import LATEST, Content
from registry.tags import FIELD, RECORD, SchemaEntity, Tags

#: Reads a schema to register, to look up, to check or to outline.
SCHEMA_READER = BodyReader(RegisterSchemaRequest)
#: The members of most bodies; a body with no other member has only a content.
_CONTENT_MEMBERS = frozenset({"schema", "schemaType", "references", "metadata", "ruleSet"})


async def sent_in(request: Request, subject: str) -> Sent:
    """The schema in the body of a bare request to register or to look up.

    Raises:
        ApiError: 400 if a member has the wrong type; 40301 if the sender may not read a reference.
    """
    return sent_from(
        await SCHEMA_READER.read(request),
        subject,
        rights_of(request),
        normalize=flag(request, "normalize"),
        force=flag(request, "force"),
        explain=flag(request, "explain"),
    )


def sent_from(
    body: RegisterSchemaRequest,
    subject: str,
    rights: Rights | None,
    *,
    normalize: bool = False,
    force: bool = False,
    explain: bool = False,
) -> Sent:
    """The schema in a body.

    Args:
        body: The body.
        subject: The subject that the schema is for.
        rights: The sender's rights; None if there are no rules.
        normalize: Whether to compare and store the normalized text.
        force: Whether to skip the compatibility check.
        explain: Whether errors explain what broke.

    Raises:
        ApiError: 400 for tags of no entity; 40301 if the sender may not read a reference.
    """
    schema_type, references = body.get("schemaType"), body.get("references")
    content = Content(
        AVRO if schema_type is None else schema_type,
        body.get("schema") or "",
        tuple(
            Reference(reference.get("name") or "", reference.get("subject") or "", reference.get("version") or 0)
            for reference in references
        )
        if references
        else (),
        Metadata.from_json(body.get("metadata")),
        RuleSet.from_json(body.get("ruleSet")),
    )
    if rights is not None:
        rights.require_references(subject, content.references, content.schema_type)
    if _CONTENT_MEMBERS.issuperset(body):
        return Sent(subject, content, normalize=normalize, force=force, explain=explain)
    schema_id = body.get("id")
    return Sent(
        subject,
        content,
        version=body.get("version") or 0,
        schema_id=-1 if schema_id is None else schema_id,
        normalize=normalize,
        force=force,
        tags_to_add=_tags(body.get("schemaTagsToAdd"), "schemaTagsToAdd"),
        tags_to_remove=_tags(body.get("schemaTagsToRemove"), "schemaTagsToRemove"),
        propagate_tags=body.get("propagateSchemaTags") or False,
        explain=explain,
    )


def tagging_from(body: TagSchemaRequest, subject: str, number: int | None) -> Tagging:
    """The body of a request for a version with other tags, metadata or rules.

    Raises:
        ApiError: 400 for tags of no entity.
    """
    return Tagging(
        subject,
        number,
        new_version=body.get("newVersion") or LATEST,
        add=_tags(body.get("tagsToAdd"), "tagsToAdd"),
        remove=_tags(body.get("tagsToRemove"), "tagsToRemove"),
        metadata=Metadata.from_json(body.get("metadata")),
        rule_set=RuleSet.from_json(body.get("ruleSet")),
        merge=RuleSet.from_json(body.get("rulesToMerge")),
        drop=body.get("rulesToRemove") or [],
    )


def _tags(listed: Sequence[SchemaTags] | None, name: str) -> Tags:
    """A list of SchemaTags as tags by entity; a leading dot of a path is ignored.

    Raises:
        ApiError: 400 if an entity has no path, or another type than a record or a field.
    """
    tags: dict[SchemaEntity, tuple[str, ...]] = {}
    for index, tagged in enumerate(listed or ()):
        entity = tagged.get("schemaEntity") or {}
        path, kind = entity.get("entityPath"), entity.get("entityType")
        if not path or kind not in (RECORD, FIELD):
            raise MALFORMED_BODY(
                detail=f"{name}[{index}].schemaEntity needs an entityPath, and an entityType of {RECORD} or {FIELD}"
            )
        key = SchemaEntity(path.removeprefix("."), kind)
        tags[key] = (*tags.get(key, ()), *(tagged.get("tags") or ()))
    return tags
