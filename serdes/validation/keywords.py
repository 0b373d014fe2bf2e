"""jsonschema's keywords with a limit of work.

The library tries every branch of a combined schema and keeps all errors, which doubles the work at each level of
repeated references. So every keyword counts its steps (see `search.py`), and keywords that combine schemas give up
when no steps are left. jsonschema-rs handles regular expressions and comparisons of all items, within its own limits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any

import jsonschema
import jsonschema_rs
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from compat.json_schema.model.dialects import DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019_09, DRAFT_2020_12, Dialect
from compat.json_schema.model.metaschemas import finds
from compat.json_schema.validate.work import BACKTRACKS
from serdes.validation.search import LONGEST_SHOWN, Exhausted, LongText, current

#: The most errors to keep of one branch.
_ERRORS_OF_BRANCH = 20
#: How many parts of a keyword's value or of an instance are checked in one step.
_PARTS_OF_STEP = 100
#: The cost of a call of jsonschema-rs, in steps.
_STEPS_OF_RUST = 20

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class UndecidedError(ValidationError):
    """Replaces the errors of a keyword that gave up."""


@cache
def validator_class(dialect_name: str) -> Any:
    """The library's class for a draft, with keywords that count steps."""
    base, dialect = _PYTHON[dialect_name]
    keywords = dict(base.VALIDATORS)
    keywords.update({name: keyword for name, keyword in _OURS.items() if name in keywords})
    keywords.update({name: _left_to_rust(name, dialect) for name in _LEFT_TO_RUST})
    bounded = {name: _bounded(name, keyword) for name, keyword in keywords.items()}
    made = extend(base, bounded)  # type: ignore[no-untyped-call]
    made.evolve = _evolve
    return made


def _evolve(validator: Any, **changes: Any) -> Any:
    """The same validator with another schema; given a `$schema`, the library would use a class that does not count."""
    fields = {"schema": validator.schema, "_resolver": validator._resolver, **changes}  # noqa: SLF001  no other access
    return type(validator)(**fields)


@lru_cache(maxsize=100)
def _leaf(dialect_name: str, keyword: str, value: str, mask: str | None) -> Any:
    # Patterns with much backtracking give up earlier here than in the deciding validator.
    options = jsonschema_rs.FancyRegexOptions(BACKTRACKS)
    schema = {keyword: json.loads(value)}
    try:
        return _RUST[dialect_name](schema, mask=mask, pattern_options=options, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None


def leaf_message(dialect: Dialect, keyword: str, value: Any, instance: Any) -> str | None:
    """The error of jsonschema-rs for one keyword; None if the instance is valid.

    Args:
        dialect: The schema's draft.
        keyword: The keyword; it must not depend on other keywords.
        value: The keyword's value.
        instance: The value to validate.
    """
    is_long = isinstance(instance, str) and len(instance) > LONGEST_SHOWN
    compiled = _leaf(dialect.name, keyword, json.dumps(value), "the text" if is_long else None)
    plain = str(instance) if isinstance(instance, LongText) else instance
    first = None if compiled is None else next(compiled.iter_errors(plain), None)
    return None if first is None else str(first.message)


def _bounded(name: str, keyword: Keyword) -> Keyword:
    if name in _PASSING or name in _COMBINING:
        return _giving_up(keyword, is_combining=name in _COMBINING)
    return _counted(keyword)


def _counted(keyword: Keyword) -> Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        search = current()
        search.spend(1 + (len(value) // _PARTS_OF_STEP if isinstance(value, list | dict) else 0))
        yield from keyword(validator, value, search.brief(instance), schema) or ()

    return check


def _giving_up(keyword: Keyword, *, is_combining: bool) -> Keyword:
    """A keyword that applies subschemas to the same value and gives up when no steps are left.

    If such keywords are nested, the outermost one that combines errors gives up, or the outermost one that passes on
    errors about the same value.
    """
    counted = _counted(keyword)

    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        search = current()
        before = search.is_combining, search.passing
        shown = search.brief(instance)
        is_within = search.is_combining or (not is_combining and search.passing is shown)
        search.is_combining = search.is_combining or is_combining
        search.passing = shown
        try:
            yield from counted(validator, value, instance, schema) or ()
        except (Exhausted, RecursionError):
            if is_within:
                raise
            search.renew()
            yield UndecidedError("refused, but to find the reason takes too much work")
        finally:
            search.is_combining, search.passing = before

    return check


def _left_to_rust(keyword: str, dialect: Dialect) -> Keyword:
    def check(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str | list):
            current().spend(_STEPS_OF_RUST + len(instance) // _PARTS_OF_STEP)
        if leaf_message(dialect, keyword, value, instance) is not None:
            yield ValidationError("the items are not unique" if keyword == "uniqueItems" else f"refused by {keyword}")

    return check


def _branches(validator: Any, schemas: Sequence[Any], instance: Any) -> tuple[list[int], list[ValidationError]]:
    """The indexes of the branches that accept, and the errors of the others."""
    accepting: list[int] = []
    context: list[ValidationError] = []
    for index, schema in enumerate(schemas):
        errors = list(islice(validator.descend(instance, schema, schema_path=index), _ERRORS_OF_BRANCH))
        context.extend(errors)
        if not errors:
            accepting.append(index)
    return accepting, context


def _any_of(validator: Any, schemas: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    accepting, context = _branches(validator, schemas, instance)
    if not accepting:
        yield ValidationError(f"matches none of the {len(schemas)} schemas of anyOf", context=context)


def _one_of(validator: Any, schemas: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    accepting, context = _branches(validator, schemas, instance)
    if not accepting:
        yield ValidationError(f"matches none of the {len(schemas)} schemas of oneOf", context=context)
    elif len(accepting) > 1:
        several = " and ".join(f"oneOf/{index}" for index in accepting[:3])
        yield ValidationError(f"matches {len(accepting)} schemas of oneOf instead of one: {several}")


def _not(validator: Any, refused: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.evolve(schema=refused).is_valid(instance):
        yield ValidationError("matches the schema of not")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, schema in patterns.items():
            for name, value in instance.items():
                current().spend(1)
                if finds(pattern, name):
                    yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    patterns = schema.get("patternProperties", {})
    current().spend(len(instance) * (1 + len(patterns)) // 10)
    extra = [
        name
        for name in instance
        if name not in schema.get("properties", {}) and not any(finds(pattern, name) for pattern in patterns)
    ]
    if isinstance(allowed, dict):
        for name in extra:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and extra:
        names = ", ".join(f'"{name[:LONGEST_SHOWN]}"' for name in extra[:3])
        more = f" and {len(extra) - 3} others were" if len(extra) > 3 else " was" if len(extra) == 1 else " were"
        yield ValidationError(f"Additional properties are not allowed ({names}{more} unexpected)")


def _required(_validator: Any, names: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in names:
            if name not in instance:
                yield ValidationError(f'"{name}" is a required property')


def _type(validator: Any, types: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    names = [types] if isinstance(types, str) else types
    if not any(validator.is_type(instance, name) for name in names):
        expected = ", ".join(f'"{name}"' for name in names)
        yield ValidationError(f"{instance!r} is not of type{'s' if len(names) > 1 else ''} {expected}")


_OURS: Mapping[str, Keyword] = {
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "required": _required,
    "type": _type,
}
_LEFT_TO_RUST = ("pattern", "format", "uniqueItems", "multipleOf", "contentEncoding", "contentMediaType")
#: Keywords that pass on the errors of their subschemas, and keywords that combine them into one error.
_PASSING = frozenset({"allOf", "if", "dependencies", "dependentSchemas"})
_COMBINING = frozenset({"anyOf", "oneOf", "not", "contains", "unevaluatedProperties", "unevaluatedItems"})
_RUST: Mapping[str, Any] = {
    DRAFT_4.name: jsonschema_rs.Draft4Validator,
    DRAFT_6.name: jsonschema_rs.Draft6Validator,
    DRAFT_7.name: jsonschema_rs.Draft7Validator,
    DRAFT_2019_09.name: jsonschema_rs.Draft201909Validator,
    DRAFT_2020_12.name: jsonschema_rs.Draft202012Validator,
}
_PYTHON: Mapping[str, tuple[Any, Dialect]] = {
    DRAFT_4.name: (jsonschema.Draft4Validator, DRAFT_4),
    DRAFT_6.name: (jsonschema.Draft6Validator, DRAFT_6),
    DRAFT_7.name: (jsonschema.Draft7Validator, DRAFT_7),
    DRAFT_2019_09.name: (jsonschema.Draft201909Validator, DRAFT_2019_09),
    DRAFT_2020_12.name: (jsonschema.Draft202012Validator, DRAFT_2020_12),
}
