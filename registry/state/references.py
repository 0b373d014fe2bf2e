"""What references may not do where `reference.versions.strict` is set: give one name two versions."""

from __future__ import annotations

from compat.schema import InvalidSchema, SchemaText
from registry.state.model import context_of
from registry.state.resolve import missing_reference, reference_target
from registry.state.view import View


def require_one_version(view: View, context: str, schema: SchemaText) -> None:
    """Refuse references that, directly or through others, give one name two versions.

    Raises:
        InvalidSchema: Names the name and both versions.
    """
    versions: dict[str, int] = {}
    waiting = [(context, schema.references)]
    while waiting:
        within, references = waiting.pop()
        for reference in references:
            target = reference_target(view, within, reference, allow_deleted=True)
            if target is None:
                raise InvalidSchema(schema.schema_type, missing_reference(reference))
            known = versions.get(reference.name)
            if known is None:
                versions[reference.name] = target.number
                waiting.append((context_of(target.subject), target.content.references))
            elif known != target.number:
                raise InvalidSchema(
                    schema.schema_type,
                    f'Conflicting reference versions for "{reference.name}": '
                    f"version {known} and version {target.number}",
                )
