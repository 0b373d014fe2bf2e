"""Schema resolution of logical types, which Spark's reader silently gets wrong: both sides are compared in advance.

Java's Avro resolves the underlying types and ignores logical types, so milliseconds read as microseconds become dates
in 1970. Here a reader's tree is made for each writer. It has the writer's unit if Spark's type is the same, or if a
cast to the reader's type loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from spark_avro.plan.decimals import READ_DIGITS, is_cut
from spark_avro.plan.tree import MAX_PRECISION, Tree, describe, is_record

#: The promotions of a writer's type to a reader's (Avro specification, Schema Resolution).
_PROMOTIONS = {
    "int": {"long", "float", "double"},
    "long": {"float", "double"},
    "float": {"double"},
    "string": {"bytes"},
    "bytes": {"string"},
}

#: Logical types that Spark reads as the same type, each in its unit.
SAME_TYPE = (
    frozenset({"timestamp-millis", "timestamp-micros"}),
    frozenset({"local-timestamp-millis", "local-timestamp-micros"}),
)


@dataclass(unsafe_hash=True)
class Unreadable(Exception):
    """The reader's schema cannot faithfully read any of the writer's records: `problem` at the field `path`."""

    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.path or 'the type'} {self.problem}"


class Misread(Unreadable):
    """Java's Avro would read one type as the other: records would be wrong instead of broken."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A reader's tree for one writer; with `cast`, values must be cast to the type of the reader's original tree."""

    tree: Tree
    cast: bool = False


def resolve(writer: Tree, reader: Tree, path: str = "") -> Resolved:
    """The reader's tree, with the writer's logical type wherever that describes the bytes better.

    Raises:
        Unreadable: no record of the writer can be read, or Spark would read it as something else.
    """
    if isinstance(writer, list):
        return _from_union(writer, reader, path)
    if isinstance(reader, list):
        return _into_union(writer, reader, path)
    kind = writer["type"]
    if kind != reader["type"]:
        if reader["type"] not in _PROMOTIONS.get(kind, ()):
            raise Unreadable(path, f"is {describe(writer)} in the data and {describe(reader)} for the reader")
        return _logical(writer, reader, path)
    if kind == "record":
        return _record(writer, reader, path)
    if kind in ("array", "map"):
        part, mark = ("items", "[]") if kind == "array" else ("values", "{}")
        inner = resolve(writer[part], reader[part], path + mark)
        return Resolved({**reader, part: inner.tree}, inner.cast)
    if kind == "fixed" and writer["size"] != reader["size"]:
        raise Unreadable(path, f"has {writer['size']} bytes in the data and {reader['size']} for the reader")
    return _logical(writer, reader, path)


def with_nulls(writer: Tree, reader: Tree) -> Tree:
    """The writer's tree with a null field added for each reader's field that it lacks and whose default is null.

    Such a field takes no bytes, and Java's Avro reads it in a fifth of the time of a default.
    """
    if not (is_record(writer) and is_record(reader)):
        return writer
    written = {field["name"] for field in writer["fields"]}
    # A field with the name of another field's alias would be read as that field.
    aliases = {alias for field in reader["fields"] for alias in field.get("aliases", ())}
    lacking = [
        {"name": field["name"], "type": {"type": "null"}}
        for field in reader["fields"]
        if field.get("default", ...) is None
        and field["name"] not in aliases
        and written.isdisjoint({field["name"], *field.get("aliases", ())})
    ]
    return {**writer, "fields": [*writer["fields"], *lacking]}


def _record(writer: Tree, reader: Tree, path: str) -> Resolved:
    written = {field["name"]: field for field in writer["fields"]}
    fields, cast = [], False
    for field in reader["fields"]:
        inside = f"{path}.{field['name']}" if path else field["name"]
        source = next((written[name] for name in (field["name"], *field.get("aliases", ())) if name in written), None)
        if source is None:
            if "default" not in field:
                raise Unreadable(inside, "is not in the data and has no default")
            fields.append(field)
            continue
        inner = resolve(source["type"], field["type"], inside)
        fields.append({**field, "type": inner.tree})
        cast = cast or inner.cast
    return Resolved({**reader, "fields": fields}, cast)


def _from_union(writer: list[Tree], reader: Tree, path: str) -> Resolved:
    """A writer's union: each branch that fits changes the reader's tree; two changes must not conflict."""
    result, readable, problem = Resolved(reader), False, None
    for branch in writer:
        try:
            changed = resolve(branch, reader, path)
        except Misread:
            raise
        except Unreadable as error:
            # Records of this branch will be broken; a reader without null refuses null.
            problem = problem or error
            continue
        readable = readable or branch["type"] != "null" or len(writer) == 1
        merged = _merge(reader, result.tree, changed.tree)
        if merged is None:
            raise Unreadable(path, "has branches in the data that the reader's one type cannot stand for alike")
        result = replace(result, tree=merged, cast=result.cast or changed.cast)
    if not readable and problem is not None:
        raise problem
    return result


def _into_union(writer: Tree, reader: list[Tree], path: str) -> Resolved:
    """A reader's union: the branch of the writer's type, else the first to which it can be promoted."""
    problem = None
    for index in sorted(range(len(reader)), key=lambda index: not _same(writer, reader[index])):
        try:
            inner = resolve(writer, reader[index], path)
        except Misread:
            raise
        except Unreadable as error:
            problem = problem or error
            continue
        return Resolved([*reader[:index], inner.tree, *reader[index + 1 :]], inner.cast)
    if problem is None or len([branch for branch in reader if branch["type"] != "null"]) != 1:
        raise Unreadable(path, f"is {describe(writer)} in the data, which is not in the reader's {describe(reader)}")
    raise problem


def _same(writer: Tree, reader: Tree) -> bool:
    if writer["type"] != reader["type"]:
        return False
    names = {reader.get("name"), *reader.get("aliases", ())}
    return writer.get("name") in names or is_record(writer)


def _logical(writer: Tree, reader: Tree, path: str) -> Resolved:
    written, read = writer.get("logicalType"), reader.get("logicalType")
    if written is None or read is None or _meaning(writer) == _meaning(reader):
        return Resolved(reader)
    if any({written, read} <= alike for alike in SAME_TYPE):
        return Resolved({**reader, "logicalType": written})
    if written == read == "decimal":
        if writer["scale"] <= reader["scale"] and (
            writer["precision"] - writer["scale"] <= reader["precision"] - reader["scale"]
        ):
            if is_cut(writer) and reader["scale"] - writer["scale"] > MAX_PRECISION - READ_DIGITS:
                problem = f"is {describe(writer)} in the data, and Spark has no room to check it for {describe(reader)}"
                raise Misread(path, problem)
            return Resolved({**reader, "precision": writer["precision"], "scale": writer["scale"]}, cast=True)
        raise Misread(path, f"is {describe(writer)} in the data, which {describe(reader)} cannot hold")
    raise Misread(path, f"is {written} in the data and {read} for the reader, which Spark does not convert")


def _meaning(leaf: Tree) -> tuple[Any, ...]:
    return leaf["logicalType"], leaf.get("precision"), leaf.get("scale")


def _merge(base: Tree, one: Tree, other: Tree) -> Tree | None:
    """The merged changes of two trees to a base, or None if they conflict."""
    if other in (one, base):
        return one
    if one == base:
        return other
    if isinstance(base, list) and len(base) == len(one) == len(other):
        parts = [_merge(*branches) for branches in zip(base, one, other, strict=True)]
        return None if None in parts else parts
    if is_record(base):
        types = [
            _merge(*(field["type"] for field in fields))
            for fields in zip(base["fields"], one["fields"], other["fields"], strict=True)
        ]
        if None in types:
            return None
        return {**base, "fields": [{**field, "type": kind} for field, kind in zip(base["fields"], types, strict=True)]}
    return None
