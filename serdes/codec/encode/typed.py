"""Conditions with which generated code chooses a union's branch by the type of the value alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from serdes.codec.forms.form import Form
from serdes.codec.forms.records import Records
from serdes.codec.logical import python_types
from serdes.codec.schema import Node
from serdes.records.values import Branch

#: The exact types of values that a branch may accept: in Python data, and in plain JSON.
_DATA_TYPES: dict[str, frozenset[type]] = {
    "null": frozenset({type(None)}),
    "boolean": frozenset({bool}),
    "int": frozenset({int}),
    "long": frozenset({int}),
    "float": frozenset({int, float}),
    "double": frozenset({int, float}),
    "string": frozenset({str}),
    "enum": frozenset({str}),
    "bytes": frozenset({bytes}),
    "fixed": frozenset({bytes}),
    "array": frozenset({list, bytes}),  # bytes are a sequence of numbers to fastavro
    "map": frozenset({dict}),
    "record": frozenset({dict}),
}
_JSON_TYPES: dict[str, frozenset[type]] = {
    **_DATA_TYPES,
    "int": frozenset({int, float}),
    "long": frozenset({int, float}),
    "float": frozenset({int, float, str}),
    "double": frozenset({int, float, str}),
    "bytes": frozenset({str}),
    "fixed": frozenset({str}),
    "array": frozenset({list}),
}

#: The types of logical values in JSON with texts.
_TEXT_TYPES: frozenset[type] = frozenset({int, float, str})

#: A condition, the index of the branch that it selects, and the expression of the value in the branch.
Typed = tuple[str, int, str]


def typed_branches(union: Node, form: Form, value: str, bind: Callable[[type], str]) -> Iterator[Typed]:
    """The branches that a condition on the variable `value` can select, null first; other values need the chooser.

    Args:
        union: The union.
        form: The form of its values.
        value: The variable's name.
        bind: Returns a name for a type.
    """
    if form.tagged:
        yield from _tagged(union, value)
        return
    if form.records is not None:
        yield from _of_records(union, form.records, value, bind)
        return
    by_type: dict[type, list[int]] = {}
    for index, branch in enumerate(union.branches):
        for accepted in _accepted(branch, form):
            by_type.setdefault(accepted, []).append(index)
    for accepted in sorted(by_type, key=lambda accepted: (accepted is not type(None), accepted.__name__)):
        indices = by_type[accepted]
        if form.json and accepted is str:
            indices = [index for index in indices if union.branches[index].kind == "string"] or indices
        if len(indices) == 1:
            yield _condition(accepted, form, value, bind), indices[0], value


def _accepted(branch: Node, form: Form) -> frozenset[type]:
    if branch.kind == "union":
        return frozenset()
    if form.json and form.texts and branch.logical:
        return _TEXT_TYPES
    if form.json:
        return _JSON_TYPES[branch.kind]
    return _DATA_TYPES[branch.kind] | (python_types(branch) if branch.logical else frozenset())


def _condition(accepted: type, form: Form, value: str, bind: Callable[[type], str]) -> str:
    if accepted is type(None):
        return f"{value} is None"
    if accepted is dict:
        # A record's `-type` may name another branch; a plain object of one key may be a tagged value.
        rest = f"len({value}) != 1" if form.json else f'"-type" not in {value}'
        return f"type({value}) is dict and {rest}"
    return f"type({value}) is {bind(accepted)}"


def _of_records(union: Node, records: Records, value: str, bind: Callable[[type], str]) -> Iterator[Typed]:
    in_branch = records.wrapped(union)
    for index, branch in sorted(enumerate(union.branches), key=lambda pair: pair[1].kind != "null"):
        accepted = records.accepted(branch)
        if branch.branch in in_branch:
            condition = f"type({value}) is {bind(Branch)} and {value}.name == {branch.branch!r}"
            yield condition, index, f"{value}.value"
        elif branch.kind == "null":
            yield f"{value} is None", index, value
        elif accepted is not None:
            yield f"type({value}) is {bind(accepted)}", index, value


def _tagged(union: Node, value: str) -> Iterator[Typed]:
    names = [branch.branch for branch in union.branches]
    for index, branch in sorted(enumerate(union.branches), key=lambda pair: pair[1].kind != "null"):
        # A value that is not an object fails at the subscript, and the step-by-step encoder reports why.
        if branch.kind == "null":
            yield f"{value} is None", index, value
        elif names.count(branch.branch) == 1:
            tag = repr(branch.branch)
            yield f"{tag} in {value} and len({value}) == 1", index, f"{value}[{tag}]"
