"""Explains why a value is refused: the field, the reason, and the nearest branch of oneOf or anyOf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, islice
from typing import Any
from urllib.parse import urljoin

import referencing
from jsonschema.exceptions import relevance
from jsonschema_specifications import REGISTRY as METASCHEMAS  # type: ignore[import-untyped]
from referencing.jsonschema import specification_with

from compat.json_schema.model.dialects import Dialect
from compat.json_schema.validate.validators import NO_BASE
from serdes.validation.keywords import UndecidedError, leaf_message, validator_class
from serdes.validation.refusal import Path, Refusal, data_path
from serdes.validation.search import Search, searching

#: jsonschema's ValidationError, whose type annotations do not say which fields are set.
Error = Any

#: The most errors from which to choose the best.
_MOST_ERRORS = 20
_LONGEST_REASON = 500
#: Keywords whose reason comes from jsonschema-rs, because it does not depend on other keywords.
_LEAVES = frozenset(
    {
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "contentEncoding",
        "contentMediaType",
    }
)
_COUNTS = frozenset({"minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"})


class Explainer:
    """Explains the refusals of one schema.

    Args:
        raw: The schema, in its draft.
        resources: The referenced schemas, by address.
        dialect: The draft of the schema.
    """

    def __init__(self, raw: Any, resources: Mapping[str, Any], dialect: Dialect) -> None:
        self._dialect = dialect
        specification = specification_with(dialect.url)

        def retrieve(uri: str) -> referencing.Resource[Any]:
            return specification.create_resource(resources[uri]) if uri in resources else METASCHEMAS[uri]

        root = specification.create_resource(raw)
        base = urljoin(NO_BASE, root.id() or "")
        registry = referencing.Registry(retrieve=retrieve).with_resource(base, root)  # type: ignore[call-arg]
        self._validator = validator_class(dialect.name)(raw, registry=registry, _resolver=registry.resolver(base))

    def explain(self, value: Any, *, is_short: bool = False) -> Refusal | None:
        """The reason why the schema refuses a value; None if it is not found within the limit of work.

        Args:
            value: The refused value.
            is_short: Whether to give up after about a millisecond.
        """
        errors: list[Error] = []
        is_complete = True
        with searching(Search(is_short=is_short)):
            try:
                errors.extend(islice(self._validator.iter_errors(value), _MOST_ERRORS))
            except Exception:  # noqa: BLE001  no steps or stack are left, or the library does not know a reference
                is_complete = False
        certain = [error for error in errors if not isinstance(error, UndecidedError)]
        if is_short and not is_complete:
            return None
        if certain:
            return self._refusal(_best(certain))
        return self._refusal(errors[0]) if errors else None

    def _refusal(self, error: Error) -> Refusal:
        keyword = str(error.validator or "false")
        reason = self._reason(error, keyword)
        if len(reason) > _LONGEST_REASON:
            reason = f"{reason[:_LONGEST_REASON]}..."
        return Refusal(_path(error), keyword, reason + _nearest(error))

    def _reason(self, error: Error, keyword: str) -> str:
        if isinstance(error, UndecidedError):
            return f"refused by {keyword}; to find the reason takes too much work"
        if error.validator is None:
            return "the schema false accepts nothing"
        if isinstance(error.instance, dict | list):
            # Not with jsonschema-rs, which would copy the value.
            return f"{error.message} ({keyword} {error.validator_value})" if keyword in _COUNTS else str(error.message)
        if keyword not in _LEAVES:
            return str(error.message)
        message = leaf_message(self._dialect, keyword, error.validator_value, error.instance)
        return message or str(error.message)


def _best(errors: Sequence[Error]) -> Error:
    """The most informative error: the shallowest, and for a combined schema the best error of its nearest branch."""
    best = max(errors, key=_relevance)
    branches = [list(branch) for _, branch in groupby(best.context or (), key=_branch)]
    if not branches:
        return best
    ranked = sorted(branches, key=_distance)
    if len(ranked) > 1 and _distance(ranked[0]) == _distance(ranked[1]):
        return best
    return _best(ranked[0])


def _relevance(error: Error) -> tuple[Any, ...]:
    key: Any = relevance(error)
    return key[0], *key[2:]  # if paths were compared too, the last of many equal errors would be the best


def _branch(error: Error) -> Any:
    return error.relative_schema_path[0]


def _distance(errors: Sequence[Error]) -> tuple[bool, int, int]:
    """The distance of a branch from accepting: type mismatches, then constants (such as a kind field), then errors."""
    other_type = any(error.validator == "type" and not error.relative_path for error in errors)
    constants = sum(error.validator in ("const", "enum") for error in errors)
    return other_type, constants, len(errors)


def _nearest(error: Error) -> str:
    """The branches of oneOf and anyOf on the path to an error."""
    branches: list[str] = []
    while (parent := error.parent) is not None:
        index = _branch(error)
        schema = parent.validator_value[index]
        name = (schema.get("$ref") or schema.get("title")) if isinstance(schema, dict) else None
        named = f" ({name})" if isinstance(name, str) else ""
        branches.append(f"{parent.validator}/{index}{named} at {data_path(_path(parent))}")
        error = parent
    return f"; nearest branch: {', then '.join(reversed(branches))}" if branches else ""


def _path(error: Error) -> Path:
    return tuple(error.absolute_path)
