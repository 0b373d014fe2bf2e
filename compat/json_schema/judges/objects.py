"""Judges of objects: required, properties, dependencies, content model, sizes, in the reference's order."""

from __future__ import annotations

from collections.abc import Iterator

from compat.json_schema.judges import content
from compat.json_schema.judges.judging import Ask, Change, Doomed, Judge, child, first_keyword
from compat.json_schema.judges.values import bound
from compat.json_schema.model.java_order import hash_order
from compat.json_schema.model.nodes import Const, Empty, Node, Object

#: The step to a property that no keyword names.
OTHER = "other"


def objects(old: Object, new: Object) -> Judge:
    """All differences between two object schemas."""
    if _have_other_constants(old, new):
        yield Doomed()
    yield from _required(old, new)
    yield from _properties(old, new)
    yield from _required_dependencies(old, new)
    yield from _schema_dependencies(old, new)
    yield from content.additional_content(
        content.additional_properties(old), content.additional_properties(new), (OTHER,)
    )
    yield from content.additional_content(
        content.unevaluated_properties(old), content.unevaluated_properties(new), (OTHER,)
    )
    yield from bound("MAX_PROPERTIES", "maxProperties", (old, old.max_properties), (new, new.max_properties))
    yield from bound("MIN_PROPERTIES", "minProperties", (old, old.min_properties), (new, new.min_properties))


def _have_other_constants(old: Object, new: Object) -> bool:
    """Whether a property has different constants in the two schemas, like the tag of a tagged alternative."""
    for name, before in old.properties.items():
        after = new.properties.get(name)
        if isinstance(before, Const) and isinstance(after, Const) and before.value != after.value:
            return True
    return False


def _required(old: Object, new: Object) -> Iterator[Change]:
    """REQUIRED_ATTRIBUTE_*, for properties that both schemas name."""
    for name in hash_order(tuple(old.properties)):
        if name not in new.properties or (name in old.required) == (name in new.required):
            continue
        if name in old.required:
            rule = "REQUIRED_ATTRIBUTE_REMOVED"
        elif new.properties[name].default is not None:
            rule = "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED"
        else:
            rule = "REQUIRED_ATTRIBUTE_ADDED"
        yield Change(rule, ("required", name), (name,), new.keyword("required"), old.keyword("required"))


def _properties(old: Object, new: Object) -> Judge:
    for name in hash_order((*old.properties, *new.properties)):
        before, after = old.properties.get(name), new.properties.get(name)
        unnamed = Change(
            "",
            ("properties", name),
            (name,),
            child(new.at, "properties", name) if after else None,
            child(old.at, "properties", name) if before else None,
        )
        if before and after:
            yield Ask(before, after, unnamed.path, unnamed.route)
        elif before:
            yield from _removed_property(before, new, name, unnamed)
        elif after:
            yield from _added_property(old, new, name, unnamed)


def _removed_property(before: Node, new: Object, name: str, unnamed: Change) -> Judge:
    """PROPERTY_REMOVED_*, depending on the new schema's content model."""
    if content.is_open(new):
        yield _named(unnamed, "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL")
    else:
        yield from content.removed("PROPERTY", before, content.covering(new, name), unnamed)


def _added_property(old: Object, new: Object, name: str, unnamed: Change) -> Judge:
    """PROPERTY_ADDED_*, OPTIONAL_* and REQUIRED_*, depending on the old schema's content model."""
    after = new.properties[name]
    if content.is_open(old) and isinstance(after, Empty):
        yield _named(unnamed, "PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL")
        return
    cover = content.covering(old, name)
    if not content.is_open(old) and cover is not None:
        yield from content.added("PROPERTY", after, cover, unnamed)
    if name not in new.required:
        kind = "OPTIONAL_PROPERTY_ADDED"
    elif after.default is not None:
        kind = "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED"
    else:
        kind = "REQUIRED_PROPERTY_ADDED"
    yield _named(unnamed, f"{kind}_TO_{'OPEN' if content.is_open(old) else 'UNOPEN'}_CONTENT_MODEL")


def _required_dependencies(old: Object, new: Object) -> Iterator[Change]:
    """DEPENDENCY_ARRAY_*."""
    for name in hash_order((*old.dependent_required, *new.dependent_required)):
        before, after = old.dependent_required.get(name), new.dependent_required.get(name)
        if before == after:
            continue
        if after is None:
            verdict = "REMOVED"
        elif before is None:
            verdict = "ADDED"
        else:
            verdict = "EXTENDED" if after > before else "NARROWED" if after < before else "CHANGED"
        yield _dependency(f"DEPENDENCY_ARRAY_{verdict}", old, new, name)


def _schema_dependencies(old: Object, new: Object) -> Judge:
    """DEPENDENCY_SCHEMA_*."""
    for name in hash_order((*old.dependent_schemas, *new.dependent_schemas)):
        before, after = old.dependent_schemas.get(name), new.dependent_schemas.get(name)
        if before and after:
            yield Ask(before, after, ("dependencies", name))
        else:
            yield _dependency(f"DEPENDENCY_SCHEMA_{'REMOVED' if before else 'ADDED'}", old, new, name)


def _dependency(rule: str, old: Object, new: Object, name: str) -> Change:
    reader_at = first_keyword(new, new.dependencies_keywords)
    writer_at = first_keyword(old, old.dependencies_keywords)
    return Change(rule, ("dependencies", name), (), reader_at, writer_at)


def _named(unnamed: Change, rule: str) -> Change:
    return Change(rule, unnamed.path, unnamed.route, unnamed.reader_at, unnamed.writer_at)
