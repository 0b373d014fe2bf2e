"""Edits of an Avro schema's text that remove an incompatibility."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from compat.avro.nodes import Enum, Field, Fixed, Node, Primitive, Record, Union
from compat.avro.rules.table import (
    FIXED_SIZE_MISMATCH,
    MISSING_ENUM_SYMBOLS,
    MISSING_UNION_BRANCH,
    NAME_MISMATCH,
    READER_FIELD_MISSING_DEFAULT_VALUE,
    TYPE_MISMATCH,
)
from compat.avro.schema import AvroSchema
from compat.avro.witness.cautions import BYTES_TO_STRING, NAMESPACE_CHANGED, PRECISION_LOST
from compat.avro.witness.logical import LOGICAL_TYPE_CHANGED
from compat.difference import Difference
from compat.edits import Fix, TextEdit
from compat.json import json_text
from compat.json.edits import (
    append_elements,
    prepend_element,
    remove,
    remove_elements,
    replace_value,
    set_member,
    spans,
    value_text,
    wrap,
)
from compat.schema import ParsedSchema, Pointer

_NULL = '"null"'
#: The longest default that is written out for a fixed type, in bytes.
_LONGEST_DEFAULT = 64


class _Case(NamedTuple):
    """A difference with the two schemas and its place in each."""

    difference: Difference
    new: AvroSchema
    old: AvroSchema
    new_at: Pointer
    old_at: Pointer


def fixes(difference: Difference, new: ParsedSchema, old: ParsedSchema, *, new_reads_old: bool) -> Iterator[Fix]:
    """The fixes of a difference; see SchemaFormat. Types that a reference defines are not edited."""
    assert isinstance(new, AvroSchema)
    assert isinstance(old, AvroSchema)
    yield from _of_causes([list(fixes(cause, new, old, new_reads_old=new_reads_old)) for cause in difference.causes])
    places = (difference.reader_at, difference.writer_at)
    new_at, old_at = places if new_reads_old else places[::-1]
    if new_at is None or old_at is None or new_at not in spans(new.source) or old_at not in spans(old.source):
        return
    find = (_OF_READER if new_reads_old else _OF_WRITER).get(difference.rule.name)
    if find is not None:
        yield from find(_Case(difference, new, old, new_at, old_at))


def _of_causes(by_cause: list[list[Fix]]) -> Iterator[Fix]:
    """The fixes of what differs in a union's branch: all ways for a single cause, or the best ways for several."""
    if len(by_cause) == 1:
        yield from by_cause[0]
    elif by_cause and all(by_cause):
        best = [ways[0] for ways in by_cause]
        yield Fix(
            "; ".join(dict.fromkeys(fix.title for fix in best)), tuple(edit for fix in best for edit in fix.edits)
        )


def _rename_back(case: _Case) -> Iterator[Fix]:
    name = case.difference.arguments["reader_name"]
    yield Fix(f"Keep the name {name}", (replace_value(case.new.source, case.new_at, json_text.quote(name)),))


def _add_type_alias(case: _Case) -> Iterator[Fix]:
    name = case.difference.arguments["writer_name"]
    node = case.new.nodes.get(case.new_at[:-1])
    if not isinstance(node, Record | Enum | Fixed):
        return
    # An alias without a dot belongs to the enclosing namespace.
    alias = f".{name}" if "." not in name and node.name.space is not None else name
    yield Fix(f'Add the alias "{alias}"', (_add_alias(case.new.source, case.new_at[:-1], alias),))


def _add_alias(text: str, pointer: Pointer, alias: str) -> TextEdit:
    if (*pointer, "aliases") in spans(text):
        return append_elements(text, (*pointer, "aliases"), [json_text.quote(alias)])
    return set_member(text, pointer, "aliases", f"[{json_text.quote(alias)}]")


def _keep_size(case: _Case) -> Iterator[Fix]:
    size = value_text(case.old.source, case.old_at) or ""
    yield Fix(f"Keep the size of {size}", (replace_value(case.new.source, case.new_at, size),))


def _keep_symbols(case: _Case) -> Iterator[Fix]:
    new, old = case.new.nodes.get(case.new_at[:-1]), case.old.nodes.get(case.old_at[:-1])
    if not isinstance(new, Enum) or not isinstance(old, Enum):
        return
    missing = [symbol for symbol in old.symbols if symbol not in new.symbols]
    listed = ", ".join(missing)
    yield Fix(
        f"Keep the symbols {listed}", (append_elements(case.new.source, case.new_at, [*map(json_text.quote, missing)]),)
    )
    if new.symbols:
        edit = set_member(case.new.source, case.new_at[:-1], "default", json_text.quote(new.symbols[0]))
        yield Fix(f"Read the symbols {listed} as the default {new.symbols[0]}", (edit,))


def _leave_symbols_out(case: _Case) -> Iterator[Fix]:
    new, old = case.new.nodes.get(case.new_at[:-1]), case.old.nodes.get(case.old_at[:-1])
    if isinstance(new, Enum) and isinstance(old, Enum):
        added = [index for index, symbol in enumerate(new.symbols) if symbol not in old.symbols]
        edits = remove_elements(case.new.source, case.new_at, added)
        yield Fix("Leave the new symbols out until all readers have them", edits)


def _give_default(case: _Case) -> Iterator[Fix]:
    """For a reader's field: an alias for a written field of the same type, or a default."""
    *outer, _, index = case.new_at
    record = case.new.nodes.get(tuple(outer))
    if not isinstance(record, Record) or not isinstance(index, int):
        return
    field, text = record.fields[index], case.new.source
    written = _renamed_from(case, record, tuple(outer))
    if written is not None:
        yield Fix(f'Add the alias "{written}": renamed?', (_add_alias(text, case.new_at, written),))
    yield from _nullable(field, text, case.new_at)
    default = _default_of(field.type)
    if default is not None:
        edit = set_member(text, case.new_at, "default", default)
        yield Fix(f"Add the default {default}", (edit,))


def _renamed_from(case: _Case, record: Record, record_at: Pointer) -> str | None:
    """The only removed field with the new field's type; None if there is not exactly one."""
    before = _value_at(case.old.source, case.old_at).get("fields", [])
    after = _value_at(case.new.source, record_at).get("fields", [])
    kept = {name for field in record.fields for name in (field.name, *field.aliases)}
    now = after[case.new_at[-1]]
    removed = [field["name"] for field in before if field["name"] not in kept and field["type"] == now["type"]]
    return removed[0] if len(removed) == 1 else None


def _value_at(text: str, pointer: Pointer) -> Any:
    value = json_text.loads(text, comments=True)
    for step in pointer:
        value = value[step]
    return value


def _nullable(field: Field, text: str, pointer: Pointer) -> Iterator[Fix]:
    """The default null, which needs null as the first branch of a union."""
    kind = field.type
    type_at = (*pointer, "type")
    default = set_member(text, pointer, "default", "null")
    if kind.type == "null" or (isinstance(kind, Union) and kind.branches and kind.branches[0].type == "null"):
        yield Fix("Add the default null", (default,))
        return
    if isinstance(kind, Union):
        nulls = [index for index, branch in enumerate(kind.branches) if branch.type == "null"]
        edits = (*remove_elements(text, type_at, nulls), prepend_element(text, type_at, _NULL))
    else:
        edits = wrap(text, type_at, [_NULL], [])
    yield Fix("Make the field nullable, with the default null", (*edits, default))


def _default_of(node: Node) -> str | None:
    """The JSON text of the simplest default of a type; None if the type is null or has no simple default."""
    if isinstance(node, Union):
        return _default_of(node.branches[0]) if node.branches and node.branches[0].type != "null" else None
    if isinstance(node, Primitive):
        return _ZEROS.get(node.type)
    if isinstance(node, Enum):
        return json_text.quote(node.symbols[0]) if node.symbols else None
    if isinstance(node, Fixed):
        return json_text.quote("\0" * node.size) if node.size <= _LONGEST_DEFAULT else None
    if isinstance(node, Record):
        return "{}" if all(field.has_default for field in node.fields) else None
    return "[]" if node.type == "array" else "{}"


_ZEROS = {
    "boolean": "false",
    "int": "0",
    "long": "0",
    "float": "0.0",
    "double": "0.0",
    "bytes": '""',
    "string": '""',
}


def _keep_field(case: _Case) -> Iterator[Fix]:
    """For a writer: restore the field that readers need."""
    name = case.difference.arguments["info"]
    edit = append_elements(case.new.source, (*case.new_at, "fields"), [_before(case)])
    yield Fix(f"Keep the field {name}", (edit,))


def _before(case: _Case) -> str:
    """The text at the difference's place in the old schema."""
    return value_text(case.old.source, case.old_at) or ""


def _widen(case: _Case) -> Iterator[Fix]:
    """For a reader: a union of its type and the written type, or the written type alone."""
    before = _before(case)
    now = value_text(case.new.source, case.new_at) or ""
    if not now.startswith("["):
        # A default must match the first branch of a union.
        others: tuple[list[str], list[str]] = ([], [before]) if _has_default(case) else ([before], [])
        yield Fix("Read both types, by a union", wrap(case.new.source, case.new_at, *others))
    yield from _keep_type(case)


def _has_default(case: _Case) -> bool:
    return bool(case.new_at) and (*case.new_at[:-1], "default") in spans(case.new.source)


def _keep_type(case: _Case) -> Iterator[Fix]:
    before = _before(case)
    edit = replace_value(case.new.source, case.new_at, before)
    yield Fix("Keep the type", (edit,))


def _add_branch(case: _Case) -> Iterator[Fix]:
    branch = _before(case)
    edit = append_elements(case.new.source, case.new_at, [branch])
    yield Fix(f"Keep the branch {case.difference.arguments['branch']}", (edit,))


def _leave_branch_out(case: _Case) -> Iterator[Fix]:
    if case.new_at and isinstance(case.new_at[-1], int):
        title = f"Leave the branch {case.difference.arguments['branch']} out until all readers have it"
        yield Fix(title, (remove(case.new.source, case.new_at),))
    yield from _keep_type(case)


_Finder = Callable[[_Case], Iterator[Fix]]
#: The fixes if the new schema reads old data, and the fixes if it writes data for old readers.
_OF_READER: Mapping[str, _Finder] = {
    NAME_MISMATCH.name: _add_type_alias,
    FIXED_SIZE_MISMATCH.name: _keep_size,
    MISSING_ENUM_SYMBOLS.name: _keep_symbols,
    READER_FIELD_MISSING_DEFAULT_VALUE.name: _give_default,
    TYPE_MISMATCH.name: _widen,
    MISSING_UNION_BRANCH.name: _add_branch,
    BYTES_TO_STRING.name: _widen,
    PRECISION_LOST.name: _widen,
    LOGICAL_TYPE_CHANGED.name: _keep_type,
    NAMESPACE_CHANGED.name: _add_type_alias,
}
_OF_WRITER: Mapping[str, _Finder] = {
    NAME_MISMATCH.name: _rename_back,
    FIXED_SIZE_MISMATCH.name: _keep_size,
    MISSING_ENUM_SYMBOLS.name: _leave_symbols_out,
    READER_FIELD_MISSING_DEFAULT_VALUE.name: _keep_field,
    TYPE_MISMATCH.name: _keep_type,
    MISSING_UNION_BRANCH.name: _leave_branch_out,
    BYTES_TO_STRING.name: _keep_type,
    PRECISION_LOST.name: _keep_type,
    LOGICAL_TYPE_CHANGED.name: _keep_type,
    NAMESPACE_CHANGED.name: _rename_back,
}
