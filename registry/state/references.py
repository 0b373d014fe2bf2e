"""The check behind `schema.providers.reference.versions.strict`: references may not give one name two versions."""

from __future__ import annotations

from compat.schema import InvalidSchema, SchemaText
from registry.state.model import context_of
from registry.state.resolve import missing_reference, reference_target
from registry.state.view import View


def require_one_version(view: View, context: str, schema: SchemaText) -> None:
    """Check that references, direct and indirect, give no name two versions.

    Raises:
        InvalidSchema: They do, or a reference leads nowhere.
    """
    versions: dict[str, int] = {}
    waiting = [(context, schema.references)]
    while waiting:
        within, references = waiting.pop()
        for reference in references:
            target = reference_target(view, within, reference, allow_deleted=True)
            if target is None:
                raise InvalidSchema(schema.schema_type, missing_reference(reference))
            earlier_version = versions.get(reference.name)
            if earlier_version is None:
                versions[reference.name] = target.number
                waiting.append((context_of(target.subject), target.content.references))
            elif earlier_version != target.number:
                raise InvalidSchema(
                    schema.schema_type,
                    f'Conflicting reference versions for "{reference.name}": '
                    f"version {earlier_version} and version {target.number}",
                )
