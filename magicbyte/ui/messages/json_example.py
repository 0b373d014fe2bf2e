"""Example instances of JSON Schemas: the schema's own examples, else values that its bounds allow, mended by format."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

from compat.budget import Budget, TooMuchWork
from compat.json import json_text
from compat.json_schema.model import nodes as model
from compat.json_schema.schema import JsonSchema, parse
from compat.json_schema.validate.validators import Validator, bounded_work, compiled, first_error
from compat.json_schema.validate.work import BACKTRACKS
from compat.json_schema.witness.candidates import FORMAT_SAMPLES, LIMITS, LONGEST_TEXT, Maker
from compat.json_schema.witness.pattern_samples import samples
from compat.schema import Dependencies, InvalidSchema, SchemaText
from magicbyte.ui.messages.limits import ExampleTooLarge
from magicbyte.ui.messages.request import Target

#: The number of candidates that are put into order, and the most after them.
_ORDERED, _MOST = 40, 250
#: The most texts of an example that are replaced to fit their format, and the work of one validation (see `work.py`).
_MOST_MENDED = 30
_MOST_WORK = 2e6
_SIZE = 2_000


def candidates(
    schema: SchemaText,
    dependencies: Dependencies,
    request: Target,  # noqa: ARG001  the signature of all types
    unions: str,  # noqa: ARG001  the signature of all types
) -> Iterator[str]:
    """Texts that the schema may accept: its examples and default first, then the fullest of some candidates.

    Raises:
        ExampleTooLarge: None is left, and at least one was left out because of its size.
    """
    try:
        parsed = parse(schema, dependencies, strict=False)
    except InvalidSchema:
        return
    raw = parsed.raw if isinstance(parsed.raw, dict) else {}
    examples = raw.get("examples")
    yield from map(json_text.dumps, examples if isinstance(examples, list) else ())
    if "default" in raw:
        yield json_text.dumps(raw["default"])
    maker = _ValueMaker(set(), Budget(), parsed.raw)
    try:
        yield from _made(maker, parsed)
    except TooMuchWork:
        maker.left_out = True
    if maker.left_out:
        raise ExampleTooLarge(f"the examples that were found exceed the limits: {LIMITS}")


def _made(maker: Maker, parsed: JsonSchema) -> Iterator[str]:
    values = maker.reaching(parsed.model, ())
    first = [(json_text.dumps(value), value) for value in islice(values, _ORDERED)]
    first.sort(key=lambda pair: (-pair[0].count(":"), len(pair[0])))
    validator = _validator(parsed)
    for text, value in first:
        yield text
        if validator is not None:
            yield json_text.dumps(_mended(validator, value))
    yield from map(json_text.dumps, islice(values, _MOST))


class _ValueMaker(Maker):
    """Makes values within a schema's bounds, if these are simple."""

    def _texts(self, node: model.String, depth: int) -> Iterator[str]:
        least, most = int(node.min_length or 0), node.max_length
        texts = ("text"[: int(most)] if most is not None else "text", "a" * min(least, LONGEST_TEXT))
        for text in (*samples(node.pattern or ""), *texts) if node.pattern else texts:
            if len(text) >= least and (most is None or len(text) <= most):
                yield text
        yield from super()._texts(node, depth)

    def _amounts(self, node: model.Number, depth: int) -> Iterator[int | Decimal]:
        refused = []
        for amount in super()._amounts(node, depth):
            if _is_within(node, amount):
                yield amount
            else:
                refused.append(amount)
        yield from refused


def _is_within(node: model.Number, amount: int | Decimal) -> bool:
    return (
        (node.minimum is None or amount >= node.minimum)
        and (node.maximum is None or amount <= node.maximum)
        and (node.exclusive_minimum is None or amount > node.exclusive_minimum)
        and (node.exclusive_maximum is None or amount < node.exclusive_maximum)
    )


def _validator(schema: JsonSchema) -> Validator | None:
    """The schema's validator; None if it may take long, or the library does not support the schema."""
    try:
        if bounded_work(schema.raw, schema.dependencies).bound(_SIZE) > _MOST_WORK:
            return None
        return compiled(schema.raw, schema.dependencies, backtracks=BACKTRACKS)
    except (ValueError, LookupError):
        return None


def _mended(validator: Validator, value: Any) -> Any:
    """A value whose texts are replaced until their formats accept them, or until another keyword refuses the value."""
    for _ in range(_MOST_MENDED):
        error = first_error(validator, value)
        if not error.schema_path or error.schema_path[-1] != "format":
            break
        for text in dict.fromkeys(FORMAT_SAMPLES.values()):
            other = _with(value, error.instance_path, text)
            later = first_error(validator, other)
            if (later.instance_path, later.schema_path) != (error.instance_path, error.schema_path):
                value = other
                break
        else:
            break
    return value


def _with(value: Any, path: tuple[str, ...], text: str) -> Any:
    """A copy of a value with a text at a path."""
    if not path:
        return text
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        index = int(step)
        return [*value[:index], _with(value[index], rest, text), *value[index + 1 :]]
    return {**value, step: _with(value[step], rest, text)}
