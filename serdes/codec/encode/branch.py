"""Which branch of a union a value belongs to: for Python data as fastavro chooses, for tagged and for plain JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from serdes.codec.encode.check import DATUM, JSON, Check, Unfit
from serdes.codec.logical import preparer
from serdes.codec.schema import MISSING, Field, Node

#: Given a union's value: the index of its branch, and the value without its tag.
Choose = Callable[[Any], tuple[int, Any]]
Fits = Callable[[Any], bool]


def names(union: Node) -> dict[str, int]:
    """The branches' indices by the names that tag them."""
    return {branch.branch: index for index, branch in enumerate(union.branches)}


def data_chooser(union: Node, *, nulls: bool = True) -> Choose:
    """The choice that fastavro makes: a (name, datum) tuple decides; else the first branch that the value fits.

    With `nulls` a record fits that lacks fields which may be null.
    Where several records fit, the one with the most of the value's keys, unless a branch of another type fits after
    them; where a float fits, a later double is taken instead.
    """
    by_name = names(union)
    fits = _DataFits(nulls=nulls)
    candidates = [(index, branch, fits.may(branch), fits.of(branch)) for index, branch in enumerate(union.branches)]
    double = next((index for index, branch in enumerate(union.branches) if branch.kind == "double"), -1)

    def choose(value: Any) -> tuple[int, Any]:
        if isinstance(value, tuple):
            if len(value) != 2 or not isinstance(value[0], str) or value[0] not in by_name:
                raise Unfit("a tuple in a union is (branch name, datum)")
            return by_name[value[0]], value[1]
        possible = [candidate for candidate in candidates if candidate[2](value)]
        if len(possible) == 1:
            # Whether it fits shows when it is written.
            return possible[0][0], value
        fitting = [(index, branch) for index, branch, _, fit in possible if fit(value)]
        other = next(((index, branch.kind) for index, branch in fitting if branch.kind != "record"), None)
        if other:
            return max(other[0], double) if other[1] == "float" else other[0], value
        if not fitting:
            raise Unfit
        # Of equals the first.
        return max(fitting, key=lambda pair: sum(field.name in value for field in pair[1].fields))[0], value

    return choose


def tag_chooser(union: Node) -> Choose:
    """Avro JSON: null is bare, anything else is an object of one key, the branch's name."""
    by_name = names(union)

    def choose(value: Any) -> tuple[int, Any]:
        tag, inner = ("null", None) if value is None else _tagged(value)
        if tag not in by_name:
            raise Unfit(f"it has no branch {tag!r:.80}")
        return by_name[tag], inner

    return choose


def _tagged(value: Any) -> tuple[str, Any]:
    if not isinstance(value, dict) or len(value) != 1:
        raise Unfit("a union's value is null or an object of one key, the branch's name")
    return next(iter(value.items()))


#: Among branches that all fit a plain value, the rank of each kind; the lowest is taken. Whole numbers keep their
#: width, fractions their precision, and a text is a string before it is anything else that a text can stand for.
_RANKS = {
    "null": 0, "boolean": 0, "string": 0, "enum": 1, "bytes": 2, "fixed": 2, "int": 0, "long": 1, "double": 2,
    "float": 3, "array": 0, "record": 0, "map": 1,
}  # fmt: skip
#: The same for a number written with a fraction, be it zero.
_FRACTION_RANKS = {**_RANKS, "double": 0, "float": 1, "int": 2, "long": 3}


def plain_chooser(union: Node, *, defaults: bool) -> Choose:
    """Untagged JSON: the branch that the value fits, by rank of type; a tag is understood where nothing fits without.

    With `defaults` a record fits that lacks fields which have one.

    Raises:
        Unfit: Nothing fits, or two branches of one rank do (two records, two arrays, bytes and fixed): then only a tag
            can tell.
    """
    by_name = names(union)
    fits = _PlainFits(defaults=defaults)
    candidates = [(index, branch, fits.of(branch)) for index, branch in enumerate(union.branches)]

    def choose(value: Any) -> tuple[int, Any]:
        ranks = _FRACTION_RANKS if isinstance(value, float) else _RANKS
        fitting = sorted((ranks[branch.kind], index) for index, branch, fit in candidates if fit(value))
        if not fitting:
            if isinstance(value, dict) and len(value) == 1:
                tag, inner = next(iter(value.items()))
                if tag in by_name and candidates[by_name[tag]][2](inner):
                    return by_name[tag], inner
            raise Unfit
        if len(fitting) > 1 and fitting[0][0] == fitting[1][0]:
            both = [union.branches[index].branch for rank, index in fitting if rank == fitting[0][0]]
            raise Unfit(f"it fits {' and '.join(both)}: tag it with the branch's name")
        return fitting[0][1], value

    return choose


def first_chooser(union: Node) -> Choose:
    """A field's default in a schema: the first branch that it fits, as the Avro specification reads defaults."""
    fits = _PlainFits(defaults=True)
    candidates = [fits.of(branch) for branch in union.branches]

    def choose(value: Any) -> tuple[int, Any]:
        for index, fit in enumerate(candidates):
            if fit(value):
                return index, value
        raise Unfit

    return choose


class _Fits:
    """Predicates for nodes, made once each; recursive types find their own."""

    checks: Mapping[str, Check]

    def __init__(self) -> None:
        self.known: dict[int, Fits] = {}

    def of(self, node: Node) -> Fits:
        """Whether a value fits the node as a whole."""
        if id(node) not in self.known:
            # Recursive types meet this forward call while their own predicate is being made.
            self.known[id(node)] = lambda value: self.known[id(node)](value)  # noqa: PLW0108  (not yet made)
            self.known[id(node)] = self.make(node)
        return self.known[id(node)]

    def make(self, node: Node) -> Fits:
        if node.kind == "union":
            return self.union(node)
        if node.kind == "record":
            return self.record(node)
        if node.kind in {"array", "map"}:
            return self.items(node)
        return self.leaf(node)

    def leaf(self, node: Node) -> Fits:
        check = self.checks[node.kind]

        def fits(value: Any) -> bool:
            try:
                check(node, value)
            except Unfit:
                return False
            return True

        return fits

    def union(self, node: Node) -> Fits:
        branches = [self.of(branch) for branch in node.branches]
        return lambda value: any(fit(value) for fit in branches)

    def items(self, node: Node) -> Fits:
        fit = self.of(node.item)
        if node.kind == "map":
            return lambda value: (
                isinstance(value, Mapping)
                and all(isinstance(key, str) for key in value)
                and all(map(fit, value.values()))
            )
        return lambda value: isinstance(value, Sequence) and not isinstance(value, str) and all(map(fit, value))

    def record(self, node: Node) -> Fits:
        raise NotImplementedError


class _DataFits(_Fits):
    """fastavro's validation: a missing field counts as its default, or as None."""

    checks = DATUM

    def __init__(self, *, nulls: bool) -> None:
        super().__init__()
        self.nulls = nulls

    def may(self, node: Node) -> Fits:
        """Whether a value may fit, seen from outside: what fails here fits nowhere in the node."""
        if node.kind == "map":
            return lambda value: isinstance(value, Mapping)
        if node.kind == "array":
            return lambda value: isinstance(value, Sequence) and not isinstance(value, str)
        if node.kind != "record":
            return self.of(node)
        needed = frozenset(
            field.name
            for field in node.fields
            if field.default is MISSING and not (self.nulls and _nullable(field.node))
        )
        return lambda value: (
            isinstance(value, Mapping) and needed <= value.keys() and value.get("-type", node.name) == node.name
        )

    def leaf(self, node: Node) -> Fits:
        fits = super().leaf(node)
        if node.kind == "string":
            # Lone surrogates are found when it is written, as they are by fastavro.
            fits = lambda value: isinstance(value, str)  # noqa: E731
        if not node.logical:
            return fits
        prepare = preparer(node)

        def fits_prepared(value: Any) -> bool:
            try:
                return fits(prepare(value))
            except (ValueError, OverflowError):
                return False

        return fits_prepared

    def union(self, node: Node) -> Fits:
        plain = super().union(node)
        by_name = {branch.branch: self.of(branch) for branch in node.branches}

        def fits(value: Any) -> bool:
            if not isinstance(value, tuple):
                return plain(value)
            return len(value) == 2 and value[0] in by_name and by_name[value[0]](value[1])

        return fits

    def record(self, node: Node) -> Fits:
        fields = [(field, self.of(field.node)) for field in node.fields]

        def field_fits(value: Mapping[str, Any], field: Field, fit: Fits) -> bool:
            if field.name in value:
                return fit(value[field.name])
            return field.default is not MISSING or (self.nulls and fit(None))

        def fits(value: Any) -> bool:
            return (
                isinstance(value, Mapping)
                and value.get("-type", node.name) == node.name
                and all(field_fits(value, field, fit) for field, fit in fields)
            )

        return fits


def _nullable(node: Node) -> bool:
    return node.kind == "null" or any(map(_nullable, node.branches))


class _PlainFits(_Fits):
    """JSON without tags: a record has no field that the schema does not know, and lacks none, or none but defaults."""

    checks = JSON

    def __init__(self, *, defaults: bool) -> None:
        super().__init__()
        self.defaults = defaults

    def union(self, node: Node) -> Fits:
        plain = super().union(node)
        tagged = {branch.branch: self.of(branch) for branch in node.branches}

        def fits(value: Any) -> bool:
            if plain(value):
                return True
            if not isinstance(value, dict) or len(value) != 1:
                return False
            tag, inner = next(iter(value.items()))
            return tag in tagged and tagged[tag](inner)

        return fits

    def record(self, node: Node) -> Fits:
        fields = {field.name: (field, self.of(field.node)) for field in node.fields}

        def fits(value: Any) -> bool:
            return (
                isinstance(value, dict)
                and value.keys() <= fields.keys()
                and all(
                    fit(value[name]) if name in value else self.defaults and field.default is not MISSING
                    for name, (field, fit) in fields.items()
                )
            )

        return fits
