"""Encoders generated per schema: source text that encodes a datum of one form and joins the bytes.

The text handles the usual case of each type and leaves all others to the step-by-step encoder's functions. A value that
does not fit raises any exception; the step-by-step encoder then reports what does not fit, or returns the bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from serdes.codec.encode import walk as encode_walk
from serdes.codec.encode.leaves import EMPTY, QUICK, checked_leaf, joined, prepared_leaf, stored
from serdes.codec.encode.typed import typed_branches
from serdes.codec.encode.varint_table import SMALL, SMALL_END, SMALL_MIN, write_int, write_long
from serdes.codec.forms.check import Unfit, pack_float
from serdes.codec.forms.form import Form
from serdes.codec.forms.records import Records
from serdes.codec.schema import Node
from serdes.codec.size import ZERO_BYTE_ITEMS, least_size
from serdes.codec.source import MAX_DEPTH, SourceText

#: If a branch has more pieces than this, it joins them itself.
MAX_SLOTS = 4


def encoder(node: Node, form: Form) -> Callable[..., bytes]:
    """Compiles `encode(datum, prefix=b"")`, whose result begins with the prefix; it raises EncodeError."""
    source = SourceText(
        E=str.encode,
        S=SMALL,
        long=write_long,
        int32=write_int,
        pack_float=pack_float,
        pack_double=struct.Struct("<d").pack,
        join=b"".join,
        items=encode_walk.as_items,
        mapping=_mapping,
        Unfit=Unfit,
        walk=lambda value: encode_walk.encode(node, value, form),
    )
    maker = _Encoder(source, form, shared_records(node))
    with source.function('encode(datum, prefix=b"")'):
        with source.block("try:"):
            source.line("v = datum")
            source.line("return join((" + ", ".join(["prefix", *maker.pieces(node, "v", 0)]) + ",))")
        with source.block("except Exception:"):
            source.line("pass")
        source.line("return prefix + walk(datum)")
    return source.compile("encode")


def shared_records(root: Node) -> frozenset[int]:
    """The ids of the records that are mentioned more than once, recursive records included."""
    seen: set[int] = set()
    shared: set[int] = set()

    def visit(node: Node) -> None:
        if node.kind == "record":
            if id(node) in seen:
                shared.add(id(node))
                return
            seen.add(id(node))
        for child in (*(field.node for field in node.fields), *node.branches):
            visit(child)
        if node.kind in {"array", "map"}:
            visit(node.item)

    visit(root)
    return frozenset(shared)


def _mapping(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise Unfit
    return value


class _Encoder:
    """Writes statements for a node and returns expressions: the pieces of its bytes."""

    def __init__(self, source: SourceText, form: Form, shared: frozenset[int]) -> None:
        self.source = source
        self.form = form
        self.shared = shared
        self.functions: dict[int, str] = {}

    def pieces(self, node: Node, value: str, depth: int) -> list[str]:
        """The pieces of the variable `value`, which the statements may overwrite."""
        method = _METHODS.get(node.kind)
        if method is None:
            return self.leaf(node, value)
        if id(node) in self.shared or depth > MAX_DEPTH:
            return [f"{self.function(node)}({value})"]
        return method(self, node, value, depth)

    def function(self, node: Node) -> str:
        """The name of the node's function, which is written on first use."""
        if id(node) not in self.functions:
            name = self.functions[id(node)] = self.source.fresh("f")
            with self.source.function(f"{name}(v)"):
                self.source.line(f"return {joined(_METHODS[node.kind](self, node, 'v', 0))}")
        return self.functions[id(node)]

    def leaf(self, node: Node, value: str) -> list[str]:
        line = self.source.line
        prepare = None if self.form.json else self.form.prepare(node)
        if prepare is not None:
            line(f"{value} = {self.source.bind(prepare)}({value})")
        kind, p = node.kind, self.source.fresh("p")
        if kind == "null":
            line(f"if {value} is not None: raise Unfit")
            return []
        if kind in {"string", "bytes"}:
            return self.sized(node, value, p)
        if kind == "enum":
            records = self.form.records
            members = {symbol: symbol for symbol in node.symbols} if records is None else records.symbols(node)
            symbols = {members[symbol]: write_long(index) for index, symbol in enumerate(node.symbols)}
            line(f"{p} = {self.source.bind(symbols)}[{value}]")
            return [p]
        slow = f"{self.source.bind(checked_leaf(node, self.form))}({value})"
        fixed = None if self.form.records is None else self.form.records.class_of(node)
        if fixed is not None:
            line(f"{p} = {value} if type({value}) is {self.source.bind(fixed)} else {slow}")
            return [p]
        line(f"{p} = " + QUICK[kind].format(v=value, size=node.size, low=SMALL_MIN, end=SMALL_END, slow=slow))
        return [p]

    def sized(self, node: Node, value: str, p: str) -> list[str]:
        line = self.source.line
        if node.kind == "string":
            line(f"{p} = E({value})")
        elif self.form.json and not (self.form.texts and node.logical):
            line(f'{p} = E({value}, "iso-8859-1")')
        else:
            line(f"{p} = {value} if type({value}) is bytes else {self.source.bind(stored(node, self.form))}({value})")
        return [self.count(p), p]

    def count(self, value: str) -> str:
        """The piece for the length of a variable."""
        n = self.source.fresh("n")
        self.source.line(f"{n} = len({value})")
        return f"S[{n}] if {n} < {SMALL_END} else long({n})"

    def record(self, node: Node, value: str, depth: int) -> list[str]:
        if self.form.records is not None:
            return self.instance(node, value, depth, self.form.records)
        source = self.source
        source.line(f"if type({value}) is not dict: {value} = mapping({value})")
        pieces: list[str] = []
        for field in node.fields:
            key, var = repr(field.name), source.fresh("v")
            missing = encode_walk.missing_bytes(field, self.form)
            if missing is None:
                source.line(f"{var} = {value}[{key}]")
                pieces += self.pieces(field.node, var, depth + 1)
                continue
            with self.branches() as slots:
                with source.block(f"if {key} in {value}:"):
                    source.line(f"{var} = {value}[{key}]")
                    self.assign(slots, self.pieces(field.node, var, depth + 1) or [EMPTY])
                with source.block("else:"):
                    self.assign(slots, [repr(missing)])
            pieces += slots
        if self.form.closed:
            self.refuse_unknown(node, value)
        return pieces

    def instance(self, node: Node, value: str, depth: int, records: Records) -> list[str]:
        """The pieces of an instance of the record's class."""
        source, bound = self.source, records.record(node)
        if bound is None or (self.form.closed and records.unknown(node) is not None):
            source.line("raise Unfit")
            return []
        cls = source.bind(bound.cls)
        source.line(f"if type({value}) is not {cls} and not isinstance({value}, {cls}): raise Unfit")
        pieces: list[str] = []
        for field in node.fields:
            attribute = bound.attributes.get(field.name)
            if attribute is None:
                missing = encode_walk.missing_bytes(field, self.form)
                source.line("raise Unfit" if missing is None else "pass")
                pieces.append(repr(missing or b""))
                continue
            var = source.fresh("v")
            source.line(f"{var} = {value}.{attribute}")
            pieces += self.pieces(field.node, var, depth + 1)
        return pieces

    def refuse_unknown(self, node: Node, value: str) -> None:
        if self.form.defaults:
            names = self.source.bind(frozenset(field.name for field in node.fields))
            self.source.line(f"if not {value}.keys() <= {names}: raise Unfit")
        else:
            self.source.line(f"if len({value}) != {len(node.fields)}: raise Unfit")

    def assign(self, slots: list[str], pieces: list[str]) -> None:
        """Assigns one branch's pieces to the slots that all branches share, and adds slots if it needs more."""
        if len(pieces) > MAX_SLOTS:
            pieces = [pieces[0], joined(pieces[1:])]
        while len(slots) < len(pieces):
            slots.append(self.source.fresh("p"))
        for slot, piece in zip(slots, pieces, strict=False):
            self.source.line(f"{slot} = {piece}")

    @contextmanager
    def branches(self) -> Iterator[list[str]]:
        """Slots for branches to assign; a slot that a branch does not assign is empty bytes."""
        hole = self.source.hole()
        slots: list[str] = []
        yield slots
        if slots[1:]:
            self.source.fill(hole, " = ".join(slots[1:]) + f" = {EMPTY}")

    def array(self, node: Node, value: str, depth: int) -> list[str]:
        source = self.source
        source.line(f"if type({value}) is not list: {value} = items({value})")
        return self.loop(node, value, depth, "{item}", value)

    def map(self, node: Node, value: str, depth: int) -> list[str]:
        source = self.source
        source.line(f"if type({value}) is not dict: {value} = mapping({value})")
        return self.loop(node, value, depth, "{key}, {item}", f"{value}.items()")

    def loop(self, node: Node, value: str, depth: int, target: str, iterated: str) -> list[str]:
        source = self.source
        out, key, item, all_ = (source.fresh(stem) for stem in ("p", "k", "v", "a"))
        with source.block(f"if {value}:" if iterated != value else f"if len({value}):"):
            source.line(f"{all_} = [{self.count(value)}]")
            if least_size(node.item) == 0 and node.kind == "array":
                source.line(f"if len({value}) > {ZERO_BYTE_ITEMS}: raise Unfit")
            with source.block(f"for {target.format(key=key, item=item)} in {iterated}:"):
                pieces: list[str] = []
                if node.kind == "map":
                    source.line(f"{key} = E({key})")
                    pieces = [self.count(key), key]
                pieces += self.pieces(node.item, item, depth + 1)
                if len(pieces) == 1:
                    source.line(f"{all_}.append({pieces[0]})")
                elif pieces:
                    source.line(f"{all_} += ({', '.join(pieces)})")
            source.line(f'{all_}.append(b"\\0")')
            source.line(f"{out} = join({all_})")
        with source.block("else:"):
            source.line(f'{out} = b"\\0"')
        return [out]

    def union(self, node: Node, value: str, depth: int) -> list[str]:
        source = self.source
        other = f"{source.bind(self.chosen(node))}({value})"
        typed = list(typed_branches(node, self.form, value, source.bind))
        if not typed:
            return [other]
        with self.branches() as slots:
            for at, (condition, index, inner) in enumerate(typed):
                with source.block(f"{'elif' if at else 'if'} {condition}:"):
                    variable = value
                    if inner != value:
                        variable = source.fresh("v")
                        source.line(f"{variable} = {inner}")
                    pieces = self.pieces(node.branches[index], variable, depth + 1)
                    self.assign(slots, [repr(write_long(index)), *pieces])
            with source.block("else:"):
                self.assign(slots, [other])
        return slots

    def chosen(self, node: Node) -> Callable[[Any], bytes]:
        """The function that encodes values whose type alone does not select the branch."""
        choose, objects = self.form.chooser(node), self.source.objects
        heads = [write_long(index) for index in range(len(node.branches))]
        leaves = {
            at: prepared_leaf(branch, self.form)
            for at, branch in enumerate(node.branches)
            if branch.kind not in _METHODS
        }
        names = {at: self.function(branch) for at, branch in enumerate(node.branches) if branch.kind in _METHODS}

        def encode(value: Any) -> bytes:
            index, inner = choose(value)
            content: bytes = leaves[index](inner) if index in leaves else objects[names[index]](inner)
            return heads[index] + content

        return encode


_METHODS = {
    "record": _Encoder.record,
    "array": _Encoder.array,
    "map": _Encoder.map,
    "union": _Encoder.union,
}
