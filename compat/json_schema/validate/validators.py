"""Validators of instances, made by jsonschema-rs: references resolve as in loading, and never over the network."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import unquote, urljoin

from compat.json import json_text
from compat.json_schema.model.dialects import DRAFT_7, Dialect, dialect_of
from compat.json_schema.schema import JsonSchema
from compat.json_schema.validate.work import Work, work_of
from compat.schema import Dependencies, Dependency

if TYPE_CHECKING:
    import jsonschema_rs

#: The base URI of schemas without an `$id`.
NO_BASE = "http://no-id.invalid/"
_MIRRORED = ("definitions", "$defs")


class Validator(Protocol):
    """Tells whether a schema accepts an instance."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the schema accepts a decoded JSON value."""

    def validate(self, instance: Any) -> None:
        """Raise the library's error for the first reason why the schema refuses a value."""


class FirstError(NamedTuple):
    """The first reason for a refusal: the path in the document, the keywords of the schema, and the message."""

    instance_path: tuple[str, ...]
    schema_path: tuple[str, ...]
    message: str


def first_error(judge: Validator, instance: Any) -> FirstError:
    """The first reason why a schema refuses an instance; empty if it accepts the instance."""
    import jsonschema_rs  # noqa: PLC0415 - as in `compiled`

    try:
        judge.validate(instance)
    except jsonschema_rs.ValidationError as error:
        return FirstError(tuple(map(str, error.instance_path)), tuple(map(str, error.schema_path)), error.message)
    return FirstError((), (), "")


@lru_cache(maxsize=4)
def validator(schema: JsonSchema) -> Validator:
    """A validator of instances against a parsed schema.

    Raises:
        ValueError: The library does not support the schema, for example one of its patterns.
    """
    return compiled(schema.raw, schema.dependencies)


def compiled(
    raw: Any,
    dependencies: Dependencies = (),
    *,
    dialect: Dialect = DRAFT_7,
    backtracks: int | None = None,
    mask: str | None = None,
) -> jsonschema_rs.Validator:
    """A validator of instances against a schema given as a JSON value.

    References resolve to dependencies, by their exact names or relative to an `$id`; never over the network.
    Drafts 4 to 7 assert `format`; in newer drafts it is an annotation.

    Args:
        raw: The schema.
        dependencies: The schemas that it refers to.
        dialect: The draft to use if `$schema` is missing or unknown.
        backtracks: The most steps of a pattern that needs backtracking; None for the library's limit.
        mask: The text that replaces values in messages; None to show the values.

    Raises:
        ValueError: The library does not support the schema.
    """
    # Imported here because loading the library takes longer than comparing most schemas.
    import jsonschema_rs  # noqa: PLC0415

    classes = {
        "draft-04": jsonschema_rs.Draft4Validator,
        "draft-06": jsonschema_rs.Draft6Validator,
        "draft-07": jsonschema_rs.Draft7Validator,
        "2019-09": jsonschema_rs.Draft201909Validator,
        "2020-12": jsonschema_rs.Draft202012Validator,
    }
    dialect = dialect_of(raw, dialect)
    resources = resources_of(raw, dependencies, dialect)

    def retrieve(uri: str) -> Any:
        if uri not in resources:
            raise LookupError(f"no reference is named {uri}")
        return resources[uri]

    patterns = None if backtracks is None else jsonschema_rs.FancyRegexOptions(backtracks)
    try:
        return classes[dialect.name](
            in_its_draft(raw, dialect), retriever=retrieve, base_uri=NO_BASE, pattern_options=patterns, mask=mask
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise ValueError(error.message or str(error)) from None


def resources_of(raw: Any, dependencies: Dependencies, dialect: Dialect = DRAFT_7) -> Mapping[str, Any]:
    """The dependencies of a schema under every address that a reference to them may have.

    Raises:
        ValueError: A dependency is not JSON.
    """
    named = {dependency.name: json_text.loads(dependency.text, decimals=True) for dependency in dependencies}
    ids = {name: uri for name, schema in named.items() if (uri := _id(schema, dialect))}
    root_id = _id(raw, dialect)
    bases = [NO_BASE, *([root_id] if root_id else ()), *ids.values(), *named]
    resources: dict[str, Any] = {}
    for name, schema in named.items():
        drafted = in_its_draft(schema, dialect_of(schema, dialect))
        for base in bases:
            address = urljoin(base, name)
            resources.setdefault(address, drafted)
            resources.setdefault(unquote(address), drafted)
        resources[name] = drafted
        if name in ids:
            resources[ids[name]] = drafted
    return resources


def in_its_draft(raw: Any, dialect: Dialect) -> Any:
    """The schema with its draft as `$schema`, because the library would try to fetch an unknown one.

    The reference finds definitions of newer drafts under both keywords, so a missing one gets a copy of the other.
    """
    if not isinstance(raw, dict):
        return raw
    drafted = {**raw, "$schema": dialect.url}
    if dialect.modern:
        for missing, present in (_MIRRORED, _MIRRORED[::-1]):
            if missing not in raw and isinstance(raw.get(present), dict) and f"#/{missing}/" in json_text.dumps(raw):
                drafted[missing] = raw[present]
    return drafted


def bounded_work(raw: Any, dependencies: Dependencies = (), dialect: Dialect = DRAFT_7) -> Work:
    """The bound on the work of a validator that `compiled` returns.

    Raises:
        ValueError: A reference leads nowhere, or a dependency is not JSON.
    """
    dialect = dialect_of(raw, dialect)
    resources = resources_of(raw, dependencies, dialect)
    texts = {id(schema): json_text.dumps(schema) for schema in resources.values()}
    named = tuple(Dependency(address, texts[id(schema)]) for address, schema in resources.items())
    return work_of(in_its_draft(raw, dialect), named)


def _id(raw: Any, dialect: Dialect) -> str | None:
    uri = raw.get(dialect_of(raw, dialect).id_keyword) if isinstance(raw, dict) else None
    return uri if isinstance(uri, str) else None
