"""Decoders generated per plan: source text that reads the buffer once and builds the value in one form.

The text reads the usual encoding of each type. Anything else, bad bytes included, raises an exception; the step-by-step
decoder then reads the buffer from the start and reports the fault, or returns the value.
A read past the end raises IndexError or struct.error, or leaves the position beyond the end, which is checked last.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from serdes.codec.decode import walk as decode_walk
from serdes.codec.decode.parts import ends_with_buffer, instance_of, literal, shared_records
from serdes.codec.decode.read_table import ENDS, LENGTHS, READ, REALS, ZIGZAG, count_of, end_of
from serdes.codec.forms.check import Unfit
from serdes.codec.forms.form import Form
from serdes.codec.forms.records import Records
from serdes.codec.resolve.plan import Plan, unread
from serdes.codec.schema import Node
from serdes.codec.size import ZERO_BYTE_ITEMS, least_size
from serdes.codec.source import MAX_DEPTH, SourceText
from serdes.codec.varint import read_int, read_long
from serdes.records.values import Branch


def decoder(plan: Plan, form: Form) -> Callable[..., Any]:
    """Compiles `decode(buffer, offset=0)`; the datum must end at the buffer's end. It raises DecodeError."""
    source = SourceText(
        Z=ZIGZAG,
        L=LENGTHS,
        B=(False, True),
        long=read_long,
        int32=read_int,
        E=ENDS,
        end=end_of,
        unpack=struct.unpack_from,
        unpack_float=struct.Struct("<f").unpack_from,
        unpack_double=struct.Struct("<d").unpack_from,
        json_float=decode_walk.json_float,
        json_double=decode_walk.json_double,
        count=count_of,
        Unfit=Unfit,
        Branch=Branch,
        new=object.__new__,
        walk=lambda buffer, offset: decode_walk.decode(plan, buffer, offset, form),
    )
    maker = _Decoder(source, form, shared_records(plan))
    with source.function("decode(buffer, offset=0)"):
        source.line("b = buffer if type(buffer) is bytes else bytes(buffer)")
        with source.block("try:"):
            source.line(f"p, z = offset, [{ZERO_BYTE_ITEMS}]")
            value = maker.value(plan, 0)
            source.line(f"if p == len(b) and offset >= 0: return {value}")
        with source.block("except Exception:"):
            source.line("pass")
        source.line("return walk(b, offset)")
    return source.compile("decode")


class _Decoder:
    """Writes statements that read a plan's value at `p` of `b` and advance `p`; returns the value's expression."""

    def __init__(self, source: SourceText, form: Form, shared: frozenset[int]) -> None:
        self.source = source
        self.form = form
        self.shared = shared
        self.functions: dict[tuple[int, bool], str] = {}

    def value(self, plan: Plan, depth: int, *, skip: bool = False) -> str:
        """The expression of the value; with `skip` the value is read and discarded."""
        method = _METHODS.get(plan.kind)
        if method is None:
            return self.leaf(plan, skip=skip)
        if id(plan) in self.shared or depth > MAX_DEPTH:
            value = self.source.fresh("v")
            self.source.line(f"{value}, p = {self.function(plan, skip=skip)}(b, p, z)")
            return value
        return method(self, plan, depth, skip=skip)

    def function(self, plan: Plan, *, skip: bool) -> str:
        """The name of the plan's function, which is written on first use."""
        key = (id(plan), skip)
        if key not in self.functions:
            name = self.functions[key] = self.source.fresh("f")
            with self.source.function(f"{name}(b, p, z)"):
                self.source.line(f"return {_METHODS[plan.kind](self, plan, 0, skip=skip)}, p")
        return self.functions[key]

    def leaf(self, plan: Plan, *, skip: bool) -> str:
        if plan.kind == "null":
            return "None"
        value, line = self.source.fresh("v"), self.source.line
        present = self.form.present(plan)
        if plan.kind in {"string", "bytes", "fixed"}:
            self.sized(plan, value, skip=skip, stored=present is not None)
        else:
            for text in READ[plan.kind]:
                line(text.format(v=value))
        if skip:
            return "None"
        if present is not None:
            line(f"{value} = {self.source.bind(present)}({value})")
            return value
        if plan.convert == "float":
            line(f"{value} = float({value})")
        elif plan.convert and not self.form.json:
            line(f"{value} = {value}.{plan.convert}()")
        if self.form.json and plan.target.kind == "float":
            line(f"{value} = json_float({value})")
        elif self.form.json and plan.target.kind == "double":
            line(f"if {value} - {value} != 0: {value} = json_double({value})")
        return value

    def sized(self, plan: Plan, value: str, *, skip: bool, stored: bool = False) -> None:
        """Read a value with a length; `stored` leaves it to a conversion, which takes Python's type."""
        line, end = self.source.line, self.source.fresh("q")
        if plan.kind == "fixed":
            line(f"{end} = p + {plan.node.size}")
        else:
            line(f"{end} = p + E[b[p]]")
            line(f"if {end} > p: p += 1")
            line(f"else: {end}, p = end(b, p)")
        if not skip:
            # In JSON, text and bytes are shown as the type that they have in the reader's schema.
            is_json = self.form.json and not stored
            kind = plan.target.kind if is_json else plan.kind
            decoded = {"string": ".decode()", "bytes": "", "fixed": ""}[plan.kind]
            if is_json and kind != "string":
                decoded = '.decode("iso-8859-1")'
            elif is_json:
                decoded = ".decode()"
            line(f"{value} = b[p:{end}]{decoded}")
        line(f"p = {end}")

    def enum(self, plan: Plan, _: int, *, skip: bool) -> str:
        value, line = self.source.fresh("v"), self.source.line
        records = self.form.records
        members = {} if records is None else records.symbols(plan.target)
        by_byte: dict[int, Any] = {
            2 * index: members.get(symbol or "", symbol)
            for index, symbol in enumerate(plan.symbols)
            if skip or symbol is not None
        }
        symbols = self.source.bind(by_byte)
        line(f"{value} = b[p]")
        line(f"if {value} < 128: {value} = {symbols}[{value}]; p += 1")
        line(f"else: {value}, p = long(b, p); {value} = {symbols}[{value} * 2]")
        return value

    def record(self, plan: Plan, depth: int, *, skip: bool) -> str:
        values: dict[int, str] = {}
        for index, step in plan.steps:
            values[index] = self.value(step, depth + 1, skip=skip or index < 0)
        if skip:
            return "None"
        for index, field in unread(plan):
            try:
                values[index] = literal(
                    decode_walk.default_value(field, self.form), self.source.bind, self.form.records
                )
            except LookupError:
                self.source.line("raise Unfit")
                values[index] = "None"
        if self.form.records is not None:
            return self.instance(plan, values, self.form.records)
        items = (f"{field.name!r}: {values[index]}" for index, field in enumerate(plan.fields))
        return "{" + ", ".join(items) + "}"

    def instance(self, plan: Plan, values: Mapping[int, str], records: Records) -> str:
        """The expression of an instance of the record's class."""
        source, bound = self.source, records.record(plan.target)
        if bound is None:
            source.line("raise Unfit")
            return "None"
        return instance_of(source, plan, bound, values)

    def array(self, plan: Plan, depth: int, *, skip: bool) -> str:
        source, value = self.source, self.source.fresh("v")
        source.line(f"{value} = []")
        child = plan.child
        if child.kind in REALS and not child.convert and not self.form.json and self.form.present(child) is None:
            self.reals(plan, value)
        elif child.kind in {"int", "long"} and not child.convert and self.form.present(child) is None:
            self.integers(plan, value)
        else:
            with self.blocks(plan):
                item = self.value(plan.child, depth + 1, skip=skip)
                source.line("pass" if skip else f"{value}.append({item})")
        return value

    def reals(self, plan: Plan, value: str) -> None:
        """Floats or doubles, a block at once; struct checks the buffer's end before it reads."""
        code, size = REALS[plan.child.kind]
        with self.count() as count:
            self.source.line(f'{value} += unpack("<%d{code}" % {count}, b, p)')
            self.source.line(f"p += {count} * {size}")

    def integers(self, plan: Plan, value: str) -> None:
        """Integers: a whole block at once if each of them is one byte."""
        source, chunk = self.source, self.source.fresh("b")
        with self.count() as count:
            source.line(f"{chunk} = b[p:p + {count}]")
            with source.block(f"if len({chunk}) == {count} and {chunk}.isascii():"):
                source.line(f"{value} += [Z[x] for x in {chunk}]; p += {count}")
            with source.block("else:"), source.block(f"for _ in range({count}):"):
                source.line(f"{value}.append({self.leaf(plan.child, skip=False)})")

    def map(self, plan: Plan, depth: int, *, skip: bool) -> str:
        source, value = self.source, self.source.fresh("v")
        source.line(f"{value} = {{}}")
        with self.blocks(plan):
            key = source.fresh("k")
            self.sized(_KEY, key, skip=skip)
            item = self.value(plan.child, depth + 1, skip=skip)
            source.line("pass" if skip else f"{value}[{key}] = {item}")
        return value

    @contextmanager
    def blocks(self, plan: Plan) -> Iterator[None]:
        """The loop over all items of all blocks; the statements inside are for one item."""
        source, item = self.source, plan.node.item
        with self.count() as count:
            least = least_size(item)
            if plan.kind == "array" and least == 0:
                source.line(f"z[0] -= {count}")
                source.line("if z[0] < 0: raise Unfit")
            elif plan.kind == "array" and not ends_with_buffer(item):
                source.line(f"if {count} * {least} > len(b) - p: raise Unfit")
            with source.block(f"for _ in range({count}):"):
                yield

    @contextmanager
    def count(self) -> Iterator[str]:
        """The loop over all blocks; the statements inside are for one block, whose count is the yielded variable."""
        source, count = self.source, self.source.fresh("c")
        with source.block("while True:"):
            source.line(f"{count} = L[b[p]]")
            source.line(f"if {count} >= 0: p += 1")
            source.line(f"else: {count}, p = count(b, p)")
            source.line(f"if not {count}: break")
            yield count

    def union(self, plan: Plan, depth: int, *, skip: bool) -> str:
        source, index, value = self.source, self.source.fresh("i"), self.source.fresh("v")
        one_byte = len(plan.branches) <= len(ZIGZAG) // 2
        source.line(f"{index} = b[p]; p += 1" if one_byte else f"{index}, p = long(b, p)")
        for at, (tag, branch) in enumerate(plan.branches):
            with source.block(f"{'elif' if at else 'if'} {index} == {2 * at if one_byte else at}:"):
                inner = self.value(branch, depth + 1, skip=skip)
                if self.form.record_names and branch.kind == "record":
                    inner = f"({(tag or branch.node.branch)!r}, {inner})"
                source.line(f"{value} = {self.shown(plan, tag, inner)}")
        # An index with more bytes than necessary is left to the step-by-step decoder.
        source.line("else: raise Unfit" if plan.branches else "raise Unfit")
        return value

    def tagged(self, plan: Plan, depth: int, *, skip: bool) -> str:
        return self.shown(plan, plan.tag, self.value(plan.child, depth, skip=skip))

    def shown(self, plan: Plan, tag: str | None, inner: str) -> str:
        """The expression of a union's value in the form: alone, in a Branch, or in an object."""
        records = self.form.records
        if records is not None and tag is not None and tag in records.wrapped(plan.target):
            return f"Branch({tag!r}, {inner})"
        if self.form.names_branch(plan.target, tag):
            return f"({tag!r}, {inner})"
        keys = self.form.keys(plan.target, tag)
        if keys is None:
            return inner
        return "{" + ", ".join(f"{key!r}: {inner if key == keys[1] else None}" for key in keys[0]) + "}"

    def mismatch(self, _: Plan, __: int, *, skip: bool) -> str:  # noqa: ARG002  (the table's signature)
        self.source.line("raise Unfit")
        return "None"


_KEY = Plan("string", Node("string"), Node("string"))

_METHODS = {
    "record": _Decoder.record,
    "array": _Decoder.array,
    "map": _Decoder.map,
    "union": _Decoder.union,
    "enum": _Decoder.enum,
    "tagged": _Decoder.tagged,
    "mismatch": _Decoder.mismatch,
}
